import { createConfig, lintFromString, type NormalizedProblem } from '@redocly/openapi-core'
import { openApiDocument } from '../server/api/openapi/document.ts'

/** Lints the OpenAPI document with all rules that its linter recommends; warnings fail too. Part of `make check`. */
const config = await createConfig({
  extends: ['recommended'],
  rules: {
    'no-invalid-media-type-examples': 'error',
    'no-invalid-parameter-examples': 'error',
    'no-invalid-schema-examples': 'error',
    'operation-description': 'error',
    'parameter-description': 'error',
    'tags-alphabetical': 'error',
    'no-http-verbs-in-paths': 'error',
    'path-segment-plural': 'off',
    'paths-kebab-case': 'error',
    'response-contains-header': { severity: 'error', names: { '2xx': ['X-Request-Id'] } },
  },
})
const source = JSON.stringify(openApiDocument(), undefined, 2)
const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })

function asLine({ ruleId, message, location }: NormalizedProblem): string {
  return `${location.map(({ pointer }) => pointer ?? '').join(', ')}: ${message} (${ruleId})`
}

if (problems.length > 0) {
  process.stderr.write(`faults of /openapi.json:\n${problems.map(asLine).join('\n')}\n`)
  process.exitCode = 1
}
