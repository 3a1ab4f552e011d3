// Mutation tests: `npm run mutants` for every room, `npm run mutants -- policies keys` for some. Prints the
// share of mutants that the tests of each room notice. All of them take hours; `--sample=150` tests 150
// random mutants a room.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ROOMS } from './rooms.mjs'
import { sampleMutants } from './sample.mjs'

const CONFIG = fileURLToPath(new URL('./stryker.config.mjs', import.meta.url))
const NOTICED = ['Killed', 'Timeout']
const MISSED = ['Survived', 'NoCoverage']

const { values, positionals } = parseArgs({ options: { sample: { type: 'string' } }, allowPositionals: true })
const chosen = positionals.length > 0 ? positionals : Object.keys(ROOMS)
const unknown = chosen.filter((room) => !(room in ROOMS))
if (unknown.length > 0) {
  console.error(`mutants: no such room: ${unknown.join(', ')}. Rooms are ${Object.keys(ROOMS).join(', ')}.`)
  process.exit(1)
}
const table = []
for (const room of chosen) {
  const sources = sourcesIn(ROOMS[room].sources)
  const mutate = values.sample === undefined ? sources : await sampleMutants(sources, Number(values.sample))
  const { status } = spawnSync('npx', ['stryker', 'run', CONFIG], {
    env: { ...process.env, ROOM: room, MUTATE: JSON.stringify(mutate) },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
  table.push({ room, ...scoreOf(room) })
  console.table(table)
}

function sourcesIn(folder) {
  const names = readdirSync(folder, { recursive: true })
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name))
}

/** Returns how many of a room's mutants were noticed. */
function scoreOf(room) {
  const { files } = JSON.parse(readFileSync(`.cache/mutants/${room}.json`, 'utf8'))
  const states = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const count = (statuses) => states.filter((status) => statuses.includes(status)).length
  const [noticed, missed] = [count(NOTICED), count(MISSED)]
  return { noticed, missed, percent: Number(((100 * noticed) / (noticed + missed)).toFixed(1)) }
}
