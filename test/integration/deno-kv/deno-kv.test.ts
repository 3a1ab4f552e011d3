import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../e2e/package/run.js'
import { firstMessage } from '../../support/first-message.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import { cases } from './cases.js'
import { type DenoPrograms, denoPrograms, startDeno } from './deno.js'
import { describeDenoLosses } from './losses.js'

jest.setTimeout(300_000)

let programs: DenoPrograms
beforeAll(async () => {
  programs = await denoPrograms(['conformance', 'store-process'])
})
afterAll(() => programs.remove())

test('the store contract, and the rules of the store, hold in Deno', async () => {
  const results = await firstMessage(programs.start('conformance'))
  expect(results).toEqual({ passed: cases.length, failed: [] })
})

describe('several processes with one file', () => {
  describeStoreExactness(
    {
      startProcess: () => programs.start('store-process'),
      capabilities: { atomicAcrossKeys: true },
      processes: 4,
      callers: 50,
    },
    'sample',
  )
})

describeDenoLosses([200, 400, 600])

test('the block of the docs limits requests in Deno', async () => {
  const page = readFileSync(join(ROOT, 'docs/stores/deno-kv.md'), 'utf8')
  const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(page) ?? []
  const served = code.replace(
    'Deno.serve(',
    'Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: ({ port }) => process.send({ port }) }, ',
  )
  const folder = mkdtempSync(join(ROOT, '.cache/deno-kv-'))
  try {
    writeFileSync(join(folder, 'block.ts'), served)
    const child = await startDeno(join(folder, 'block.ts'), folder)
    const { port } = await firstMessage(child)
    const responses = [await fetch(`http://127.0.0.1:${port}/`), await fetch(`http://127.0.0.1:${port}/`)]
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    expect(responses.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['99', '98'])
    child.kill()
    await once(child, 'close')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
