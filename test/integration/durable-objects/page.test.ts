import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Block, blocksOf } from '../../e2e/docs/pages.js'
import { type Running, startIn } from '../../runtimes/start-in.js'

const ROOT = join(__dirname, '../../..')
const path = 'docs/stores/durable-objects.md'
const blocks = blocksOf({ path, text: readFileSync(join(ROOT, path), 'utf8') })
const workers = blocks.filter(({ code }) => code.includes('export default app'))

/** Serves a Worker of the page, and leaves the rest to `use`. */
async function withWorker({ code }: Block, use: (running: Running) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(ROOT, '.cache/worker-')) // where it finds Hono
  const file = join(folder, 'worker.ts')
  writeFileSync(file, code.replace("'1m'", "'1d'")) // so that no unit comes back meanwhile
  const running = await startIn('workerd', file, { durableObjects: { LIMITS: 'LimitsObject' } }).finally(() =>
    rmSync(folder, { recursive: true }),
  )
  await use(running).finally(() => running.close())
}

test('the page has a Worker for each way to get at the binding', () => {
  expect(workers.map(({ code }) => code.includes("from 'cloudflare:workers'"))).toEqual([true, false])
})

test.each(workers.map((block) => [block.line, block] as const))(
  'the Worker in line %i of the page admits exactly its limit of 50, 300 and 1,500 requests at once',
  async (_, block) => {
    await withWorker(block, async ({ url }) => {
      for (const [i, requests] of [50, 300, 1500].entries()) {
        const headers = { 'cf-connecting-ip': `192.0.2.${i}` }
        const get = async () => {
          const response = await fetch(url, { headers })
          return `${response.status} ${(await response.text()).slice(0, 100)}`
        }
        const counts: Record<string, number> = {}
        for (const seen of await Promise.all(Array.from({ length: requests }, get)))
          counts[seen.slice(0, 3)] = (counts[seen.slice(0, 3)] ?? 0) + 1
        expect(counts).toEqual(requests > 100 ? { 200: 100, 429: requests - 100 } : { 200: requests })
      }
    })
  },
  120_000,
)
