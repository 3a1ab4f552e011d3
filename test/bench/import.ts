import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchBundleSizes } from './bundle-sizes.js'
import { medianOf } from './harness/intervals.js'
import { median } from './harness/rounds.js'
import { printTable, whole } from './harness/table.js'

const ROUNDS = 21
const CHILD = fileURLToPath(new URL('./import-child.mjs', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PEERS = ['express-rate-limit', 'rate-limiter-flexible']

interface Load {
  /** User and system time of the process. */
  readonly cpuMs: number
  readonly wallMs: number
}

/**
 * What loading each entry of the package takes beside its peers, as ES modules and as CommonJS: in a process
 * that has loaded nothing, or one that has loaded Express. Fresh processes in turns.
 */
export async function benchImport(): Promise<void> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const paths = Object.keys(exports).filter((path) => path !== './package.json')
  const names = [...paths.map((path) => path.replace('.', 'headgate')), ...PEERS]
  for (const how of ['import', 'require']) {
    compareLoads(`${how}(), in an empty process`, how, names)
    compareLoads(`${how}(), after Express`, how, ['headgate', ...PEERS], 'express')
  }
  printTable(
    'What is installed, with dependencies',
    ['package', 'files', 'KiB'],
    ['headgate', ...PEERS].map((name) => {
      const files = filesOf(name)
      return [name, whole(files.length), whole(sizeOf(files))]
    }),
  )
  await benchBundleSizes()
}

function compareLoads(
  what: string,
  how: string,
  names: readonly string[],
  ...before: readonly string[]
): void {
  const loads = new Map<string, Load[]>(names.map((name) => [name, []]))
  for (let i = 0; i < ROUNDS; i++) {
    for (const [name, samples] of loads) {
      const printed = execFileSync(process.execPath, [CHILD, how, name, ...before], { encoding: 'utf8' })
      samples.push(JSON.parse(printed) as Load)
    }
  }
  const rows = Array.from(loads, ([name, samples]) => {
    const cpu = medianOf(samples.map(({ cpuMs }) => cpuMs))
    const wallMs = median(samples.map((load) => load.wallMs))
    const interval = `${cpu.low.toFixed(1)} to ${cpu.high.toFixed(1)}`
    const known = new Set(before.flatMap((name) => loadedBy(how, name)))
    const files = loadedBy(how, name, ...before).filter((file) => !known.has(file))
    return [
      name,
      cpu.median.toFixed(1),
      interval,
      wallMs.toFixed(1),
      whole(files.length),
      whole(sizeOf(files)),
    ]
  })
  printTable(
    `Loading by ${what}: ${ROUNDS} processes each, medians`,
    ['entry', 'CPU ms', '95 %', 'wall ms', 'files', 'KiB'],
    rows,
  )
}

/** Returns the files that a process loads, as V8's coverage lists them; in a process of its own. */
function loadedBy(how: string, ...names: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-import-'))
  try {
    execFileSync(process.execPath, [CHILD, how, ...names], { env: { NODE_V8_COVERAGE: folder } })
    const [report = ''] = readdirSync(folder)
    const { result } = JSON.parse(readFileSync(join(folder, report), 'utf8')) as { result: { url: string }[] }
    const urls = result.map(({ url }) => url).filter((url) => url.startsWith('file:'))
    return urls.map((url) => fileURLToPath(url)).filter((file) => file !== CHILD)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the files of a package as it is published, and of all its dependencies as they are installed. */
function filesOf(name: string): readonly string[] {
  const folder = name === 'headgate' ? ROOT : join(ROOT, 'node_modules', name)
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts', folder]
  const [packed] = JSON.parse(
    execFileSync('npm', pack, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  const own = packed.files.map(({ path }: { path: string }) => join(folder, path))
  return [...own, ...Object.keys(dependencies).flatMap(filesOf)]
}

function sizeOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + statSync(file).size, 0) / 1024
}
