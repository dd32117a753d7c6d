import type { Mutant } from '../mutant.ts'

const tests = ['test/deploy.test.ts']

/** Faults in the files that operators copy. */
export const deploy: readonly Mutant[] = [
  {
    name: 'unavailable-is-failed',
    promise: 'nginx serves files while the database is away: a 503 is an answer, not a failure.',
    file: 'deploy/nginx.conf',
    find: 'proxy_next_upstream error timeout;',
    replace: 'proxy_next_upstream error timeout http_503;',
    tests,
  },
  {
    name: 'sent-twice',
    promise: 'A request that may already have changed something is never sent twice.',
    file: 'deploy/nginx.conf',
    find: 'proxy_next_upstream error timeout;',
    replace: 'proxy_next_upstream error timeout non_idempotent;',
    tests,
  },
  {
    name: 'sent-twice-by-caddy',
    promise: 'A request that may already have changed something is never sent twice.',
    file: 'deploy/Caddyfile',
    find: 'method GET HEAD',
    replace: 'method GET HEAD POST',
    tests,
  },
  {
    name: 'ready-instead-of-healthy',
    promise: 'Caddy sends requests for files to servers whose database is away.',
    file: 'deploy/Caddyfile',
    find: 'health_uri /healthz',
    replace: 'health_uri /readyz',
    tests,
  },
  {
    name: 'frozen-for-a-minute',
    promise: 'A file waits 5 seconds for a frozen server, and then comes from the other one.',
    file: 'deploy/nginx.conf',
    find: 'proxy_read_timeout 5s;',
    replace: 'proxy_read_timeout 60s;',
    tests,
  },
  {
    name: 'gives-up-before-the-server',
    promise:
      'A database that does not answer is the fault of no server: the balancer waits longer than the servers do.',
    file: 'deploy/nginx.conf',
    find: 'proxy_read_timeout 60s;',
    replace: 'proxy_read_timeout 10s;',
    tests,
  },
  {
    name: 'other-address',
    promise: 'nginx.conf has the addresses of the servers in compose.yaml.',
    file: 'deploy/compose.yaml',
    find: '10.0.0.12',
    replace: '10.0.0.13',
    tests,
  },
  {
    name: 'writes-what-it-serves',
    promise: 'A server in compose.yaml cannot change what is published.',
    file: 'deploy/compose.yaml',
    find: '- public:/public:ro',
    replace: '- public:/public',
    tests,
  },
  {
    name: 'root-in-the-container',
    promise: 'No service in compose.yaml runs as root.',
    file: 'deploy/compose.yaml',
    find: "user: '101:101'",
    replace: "user: '0:0'",
    tests,
  },
]
