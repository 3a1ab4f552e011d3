import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTraces } from './run.js'
import { pageRows, tableOf } from './table.js'

const read = (path: string) => readFileSync(join(__dirname, path), 'utf8')

test('tune proposes for the three traces what its results and docs/tune.md say', async () => {
  const rows = await runTraces(1, false)
  const [, shown] = /\| trace .+\n\|[-|]+\n((?:\| .+\n)+)/.exec(read('../../../docs/tune.md')) ?? []
  expect(shown).toBe(pageRows(rows))
  const kept = read('../results/tune.txt')
  expect(rows.filter((row) => !kept.includes(`\n${tableOf([row])}`))).toEqual([])
})
