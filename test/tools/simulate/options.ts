import { parseArgs } from 'node:util'
import { optional, type ReadOption, readOptions, withDefault } from '../../../src/options/option-table.js'
import { durationMs } from '../../../src/util/durations.js'
import { choice, whole, wrongOption } from '../../../src/util/validate.js'
import { DEFAULTS, policyOf, type Scenario } from './scenario.js'

const MAX_REQUESTS = 5_000_000

/** What the command line asks for. */
export interface Command {
  /** Measure this machine's costs first, and simulate with them. */
  readonly calibrate: boolean
  /** Compare the simulation with real runs instead. */
  readonly validate: boolean
  /** One scenario instead of the default ones. */
  readonly scenario: Scenario | undefined
  /** Compare guards against overload instead, in the scenarios whose names contain a text. */
  readonly overload: { readonly seeds: number; readonly text: string } | undefined
}

const OPTIONS = {
  rows: {
    calibrate: withDefault(false, flag),
    validate: withDefault(false, flag),
    overload: withDefault(false, flag),
    seeds: optional(whole(1, 100, 10)),
    scenario: optional(text),
    processes: optional(whole(1, 1000, 10)),
    rate: optional(whole(1, 5_000_000, 20_000)),
    seconds: optional(number(0.01, 3600, 5)),
    keys: optional(whole(1, 1_000_000, 10_000)),
    zipf: optional(number(0, 5, 1)),
    policy: optional(choice('token-bucket', 'fixed-window')),
    limit: optional(whole(1)),
    window: optional(durationMs),
    store: optional(choice('redis', 'memcached', 'postgres')),
    nodes: optional(whole(1, 1000, 3)),
    latency: optional(number(0.001, 1000, 0.2)),
    p99: optional(number(0.001, 10_000, 1)),
    skew: optional(durationMs),
    slow: optional(number(1, 100_000, 10)),
    lost: optional(flag),
    'deny-cache': optional(whole(0, 60_000, 1000)),
    lease: optional(flag),
    'on-store-error': optional(choice('allow', 'deny', 'local')),
    seed: optional(whole(0, 2 ** 31, 1)),
  },
} as const

/** Reads the command line. Throws a `TypeError` that names each wrong option and its fix. */
export function readCommand(args: readonly string[]): Command {
  const known = Object.entries({ ...DEFAULTS, seeds: 10, scenario: '' }).map(([name, value]) => {
    return [name, { type: typeof value === 'boolean' ? 'boolean' : 'string' }] as const
  })
  const { values, positionals } = parseArgs({
    args: [...args],
    options: Object.fromEntries(known),
    strict: false, // the table says more about an unknown option
    allowPositionals: true,
  })
  if (positionals[0] !== undefined) {
    throw new TypeError(`simulate: got the word "${positionals[0]}". Use options, such as --processes=100.`)
  }
  const given = Object.entries(values).map(([name, value]) => [name, numberIn(value)])
  const options = readOptions('simulate', Object.fromEntries(given), OPTIONS)
  const { calibrate, validate, overload, seeds, scenario: text, ...fleet } = options
  const changes = Object.entries(fleet).filter(([, value]) => value !== undefined)
  checkOverload(overload, { seeds, scenario: text }, changes[0])
  const command = {
    calibrate,
    validate,
    overload: overload ? { seeds: seeds ?? 3, text: text ?? '' } : undefined,
  }
  if (changes.length === 0) return { ...command, scenario: undefined }
  return { ...command, scenario: checked({ ...DEFAULTS, ...Object.fromEntries(changes) }) }
}

/** The options of a fleet and those of `--overload` do not fit together. */
function checkOverload(
  overload: boolean,
  own: Readonly<Record<string, unknown>>,
  other: readonly [string, unknown] | undefined,
): void {
  if (overload && other !== undefined) {
    throw wrongOption('simulate', other[0], 'absent with --overload', other[1], 'Leave it out.')
  }
  const given = Object.entries(own).find(([, value]) => value !== undefined)
  if (overload || given === undefined) return
  throw wrongOption('simulate', given[0], 'absent without --overload', given[1], 'Add --overload.')
}

/** Returns a scenario whose options fit together. */
function checked(scenario: Scenario): Scenario {
  const { rate, seconds, latency, p99, store, policy } = scenario
  if (rate * seconds > MAX_REQUESTS) {
    const must = `at most ${MAX_REQUESTS / rate} at this rate (${MAX_REQUESTS} requests)`
    throw wrongOption('simulate', 'seconds', must, seconds, 'Simulate a shorter time.')
  }
  if (p99 < latency) throw wrongOption('simulate', 'p99', `at least the latency (${latency})`, p99)
  if (store === 'memcached' && policy !== 'fixed-window') {
    throw wrongOption('simulate', 'policy', 'fixed-window on memcached', policy, 'Use --policy=fixed-window.')
  }
  policyOf(scenario) // throws for a rate that the policy cannot keep
  return scenario
}

function numberIn(value: unknown): unknown {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

function text(owner: string, option: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw wrongOption(owner, option, 'a part of a name', value, `Write --${option}=tenant.`)
}

function flag(owner: string, option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw wrongOption(owner, option, 'an option without a value', value, `Write --${option}.`)
}

/** Creates a row for a number from `min` to `max`. */
function number(min: number, max: number, example: number): ReadOption<number> {
  return (owner, option, value) => {
    if (typeof value === 'number' && value >= min && value <= max) return value
    const fix = `Did you mean ${option}: ${example}?`
    throw wrongOption(owner, option, `a number from ${min} to ${max}`, value, fix)
  }
}
