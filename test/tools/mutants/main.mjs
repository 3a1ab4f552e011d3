// Mutation tests: `npm run mutants` for every room, `npm run mutants -- policies keys` for some. Prints the
// share of mutants that the tests of each room notice. It takes an hour and more for all.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ROOMS } from './rooms.mjs'

const CONFIG = fileURLToPath(new URL('./stryker.config.mjs', import.meta.url))
const NOTICED = ['Killed', 'Timeout']
const MISSED = ['Survived', 'NoCoverage']

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(ROOMS)
const unknown = chosen.filter((room) => !(room in ROOMS))
if (unknown.length > 0) {
  console.error(`mutants: no such room: ${unknown.join(', ')}. Rooms are ${Object.keys(ROOMS).join(', ')}.`)
  process.exit(1)
}
const table = []
for (const room of chosen) {
  const { status } = spawnSync('npx', ['stryker', 'run', CONFIG], {
    env: { ...process.env, ROOM: room },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
  table.push({ room, ...scoreOf(room) })
}
console.table(table)

/** Returns how many of a room's mutants were noticed. */
function scoreOf(room) {
  const { files } = JSON.parse(readFileSync(`.cache/mutants/${room}.json`, 'utf8'))
  const states = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const count = (statuses) => states.filter((status) => statuses.includes(status)).length
  const [noticed, missed] = [count(NOTICED), count(MISSED)]
  return { noticed, missed, percent: Number(((100 * noticed) / (noticed + missed)).toFixed(1)) }
}
