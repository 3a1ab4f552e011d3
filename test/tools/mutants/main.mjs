// Mutation tests: `npm run mutants` for every folder, `npm run mutants -- policies keys` for some. Prints the
// share of mutants that the tests of each folder notice. All of them take hours; `--sample=60` tests 60 random
// mutants of each folder, and `--seed=7` draws the sample of an earlier run that printed this seed.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sampleMutants } from './sample.mjs'

/**
 * The folders that mutation tests change: their sources in TypeScript, and those of their tests that need no
 * server and no browser. The scripts of the dashboard's page run in a browser, and have no others.
 */
const FOLDERS = JSON.parse(readFileSync(new URL('./folders.json', import.meta.url), 'utf8'))

const CONFIG = fileURLToPath(new URL('./stryker.config.mjs', import.meta.url))
const RESULTS = '.cache/mutants'
/** `RuntimeError`: the tests have ended their process, as an error in the listener of a channel does. */
const NOTICED = ['Killed', 'Timeout', 'RuntimeError']
const MISSED = ['Survived', 'NoCoverage']

const { values, positionals } = parseArgs({
  options: { sample: { type: 'string' }, seed: { type: 'string', default: String(randomInt(100_000)) } },
  allowPositionals: true,
})
const chosen = positionals.length > 0 ? positionals : Object.keys(FOLDERS)
const unknown = chosen.filter((folder) => !(folder in FOLDERS))
if (unknown.length > 0)
  fail(`no such folder: ${unknown.join(', ')}. Folders are ${Object.keys(FOLDERS).join(', ')}.`)
const tests = chosen.flatMap((folder) => FOLDERS[folder].tests)
const missing = tests.filter((path) => !existsSync(path) && !existsSync(`${path}.test.ts`))
if (missing.length > 0) fail(`no such tests: ${missing.join(', ')}. Correct folders.json.`)

const size = Number(values.sample ?? Number.NaN)
if (values.sample !== undefined && !(Number.isInteger(size) && size > 0))
  fail(`--sample must be a whole number of at least 1, got ${values.sample}.`)

const seed = values.sample === undefined ? {} : { seed: values.seed }
if (values.sample !== undefined) console.log(`mutants: the seed is ${values.seed}`)
mkdirSync(RESULTS, { recursive: true })
const table = []
for (const folder of chosen) {
  const { status } = spawnSync('npx', ['stryker', 'run', CONFIG], {
    env: { ...process.env, FOLDER: folder, ...(await chooseMutants(folder)) },
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
  table.push({ folder, ...seed, ...scoreOf(folder) })
  console.table(table)
}

/** Returns which mutants of a folder are tested, as the configuration of Stryker reads it. */
async function chooseMutants(folder) {
  const { sources } = FOLDERS[folder]
  const names = readdirSync(sources, { recursive: true }).filter((name) => name.endsWith('.ts'))
  const paths = names.map((name) => join(sources, name))
  if (values.sample === undefined) return { MUTATE: JSON.stringify(paths) }
  const { places, ids } = await sampleMutants(paths, size, values.seed)
  const sample = join(RESULTS, `${folder}.sample.json`)
  writeFileSync(sample, JSON.stringify(ids, null, 2))
  return { MUTATE: JSON.stringify(places), SAMPLE: sample }
}

/** Returns how many of a folder's mutants were noticed. */
function scoreOf(folder) {
  const { files } = JSON.parse(readFileSync(join(RESULTS, `${folder}.json`), 'utf8'))
  const states = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const count = (statuses) => states.filter((status) => statuses.includes(status)).length
  const [noticed, missed] = [count(NOTICED), count(MISSED)]
  return {
    tested: noticed + missed,
    noticed,
    percent: Number(((100 * noticed) / (noticed + missed)).toFixed(1)),
  }
}

function fail(problem) {
  console.error(`mutants: ${problem}`)
  process.exit(1)
}
