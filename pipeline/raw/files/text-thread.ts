import { parentPort } from 'node:worker_threads'
import { BuildError } from '../../base/errors.ts'
import { readText, type TextFile } from './text.ts'
import type { FromThread } from './text-threads.ts'

/** Progress is told in steps of as many bytes. */
const BYTES_TOLD = 1_048_576

if (parentPort === null) throw new Error('this is to be started as a thread')
const port = parentPort
const send = (message: FromThread) => port.postMessage(message)

port.on('message', async (file: TextFile) => {
  let untold = 0
  const tell = () => {
    send({ read: untold })
    untold = 0
  }
  const onRead = (bytes: number) => {
    untold += bytes
    if (untold >= BYTES_TOLD) tell()
  }
  try {
    // The thread is ended where others watch the signal.
    const content = await readText(file, { signal: new AbortController().signal, onRead })
    tell()
    send({ content })
  } catch (error) {
    send(error instanceof BuildError ? { fault: error.message } : { error })
  }
})
