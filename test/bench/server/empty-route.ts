import { fastify } from 'fastify'

/** A Fastify route that does nothing: no key, no log, no header, no store. */
const app = fastify()
app.get('/', async () => ({ data: 'nothing' }))
process.stdout.write(`listening ${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
