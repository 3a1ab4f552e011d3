import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf } from '../e2e/docs/pages.js'
import type { RuntimeName } from './runtimes.js'
import { startIn } from './start-in.js'

const ROOT = join(__dirname, '../..')

/** The pages whose first block is an application with a limit of 2, and the runtime of each. */
const PAGES: readonly (readonly [string, RuntimeName])[] = [
  ['cloudflare-workers', 'workerd'],
  ['deno', 'Deno'],
  ['bun', 'Bun'],
]

test.each(PAGES)('the first code of docs/runtimes/%s.md limits by IP address in %s', async (page, name) => {
  const path = `docs/runtimes/${page}.md`
  const block = blocksOf({ path, text: readFileSync(join(ROOT, path), 'utf8') }).find(
    (each) => each.language === 'ts',
  )
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache/runtime-docs-'))
  writeFileSync(join(folder, 'main.ts'), block?.code ?? '')
  try {
    const running = await startIn(name, join(folder, 'main.ts'))
    const send = () => fetch(running.url, { headers: { 'cf-connecting-ip': '192.0.2.1' } })
    const statuses = [await send(), await send(), await send()].map(({ status }) => status)
    const warnings = await running.process.output()
    await running.close()
    expect(statuses).toEqual([200, 200, 429])
    expect(warnings).not.toContain('HEADGATE_NO_ADDRESS')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
