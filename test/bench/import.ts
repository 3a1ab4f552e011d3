import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { medianOf } from './harness/intervals.js'
import { median } from './harness/rounds.js'
import { printTable } from './harness/table.js'

const ROUNDS = 21
const CHILD = fileURLToPath(new URL('./import-child.mjs', import.meta.url))
const PACKAGES = ['headgate', 'express-rate-limit', 'rate-limiter-flexible']

interface Load {
  /** User and system time of the process. */
  readonly cpuMs: number
  readonly wallMs: number
  /** How many CommonJS files it loaded. */
  readonly files: number
}

/**
 * What loading the package takes, as ES modules and as CommonJS: in a process that has loaded nothing, or
 * one that has loaded Express, which shares some dependencies. Fresh processes in turns.
 */
export async function benchImport(): Promise<void> {
  for (const how of ['import', 'require']) {
    compareLoads(`${how}(), in an empty process`, how)
    compareLoads(`${how}(), after Express`, how, 'express')
  }
}

function compareLoads(what: string, how: string, ...before: readonly string[]): void {
  const loads = new Map<string, Load[]>(PACKAGES.map((name) => [name, []]))
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
    return [name, cpu.median.toFixed(1), interval, wallMs.toFixed(1), String(samples[0]?.files)]
  })
  printTable(
    `Loading by ${what}: ${ROUNDS} processes each, medians`,
    ['package', 'CPU ms', '95 %', 'wall ms', 'CommonJS files'],
    rows,
  )
}
