import { IN_FLIGHT_FAULTS, type InFlightOutcome, runInFlight } from './in-flight.js'
import { LIMIT } from './in-flight-limits.js'

/**
 * With the short one, long requests are renewed through each fault; with the other, nothing leaks unseen.
 */
const TTLS_MS = [8000, 60_000]
const CALM_MS = 6000

/**
 * Runs each fault with each ttl, and prints a row for each. Returns whether no more than the limit ever ran,
 * and requests began again after each fault. The whole limit may take a ttl to be usable if a connection was
 * lost: nobody knows the outcome of the charges and releases that were under way.
 */
export async function printInFlight(): Promise<boolean> {
  const columns = ['fault', 'ttl', 'requests', 'most at once', 'first', 'all usable', 'free at rest']
  console.log(line(columns))
  let isFine = true
  for (const fault of IN_FLIGHT_FAULTS)
    for (const ttlMs of TTLS_MS) {
      const outcome = await runInFlight({ fault, ttlMs, calmMs: CALM_MS })
      console.log(line([fault.name, `${ttlMs / 1000} s`, ...cellsOf(outcome)]))
      isFine &&= outcome.most === LIMIT && outcome.firstMs !== undefined
    }
  return isFine
}

function cellsOf({ requests, most, firstMs, usableMs, freeAtRest }: InFlightOutcome): string[] {
  const time = (ms: number | undefined) => (ms === undefined ? 'never' : `${ms} ms`)
  return [String(requests), String(most), time(firstMs), time(usableMs), String(freeAtRest)]
}

function line(cells: readonly string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(23) : cell.padStart(13))).join('')
}
