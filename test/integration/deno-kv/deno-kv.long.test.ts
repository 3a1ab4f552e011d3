import { describeStoreExactness } from '../../support/store-exactness.js'
import { type DenoPrograms, denoPrograms } from './deno.js'

jest.setTimeout(600_000)

let programs: DenoPrograms
beforeAll(async () => {
  programs = await denoPrograms(['store-process'])
})
afterAll(() => programs.remove())

describe('several processes with one file of Deno KV', () => {
  describeStoreExactness(
    {
      startProcess: () => programs.start('store-process'),
      capabilities: { atomicAcrossKeys: true },
      callers: 20,
    },
    'all',
  )
})
