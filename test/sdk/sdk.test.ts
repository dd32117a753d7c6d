/** The newest official SDK. `make test-clients` has the older one of npm and those of PyPI. */
import * as sdk from '@openrouter/sdk'
import * as errors from '@openrouter/sdk/models/errors'
import { describe } from 'vitest'
import { testCalls } from './calls.ts'

describe(`SDK ${sdk.SDK_METADATA.sdkVersion}`, () => testCalls({ sdk, errors }))
