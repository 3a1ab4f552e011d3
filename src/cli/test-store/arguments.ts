import { resolve } from 'node:path'
import { readArguments, readDuration } from '../arguments.js'
import { UsageError } from '../failures.js'

/** The settings of a run of `headgate test-store`. */
export interface TestStoreSettings {
  /** The path of the module. */
  readonly module: string
  readonly isExact: boolean
  /** Whether this is one of the processes of `--exact`. */
  readonly isServed: boolean
  readonly processes: number
  readonly parallel: number
  readonly timeoutMs: number
  readonly only: string
  readonly atomicAcrossKeys: boolean
  readonly anyKey: boolean
  readonly json: boolean
}

const MODULE = 'a module that exports a store is required, such as ./store.js'

/** Returns the settings in the arguments of the command. Throws a `UsageError` for wrong ones. */
export function parseTestStoreArguments(args: readonly string[]): TestStoreSettings {
  const { values, positionals } = readArguments(args, {
    exact: { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
    processes: { type: 'string', default: '4' },
    parallel: { type: 'string', default: '8' },
    timeout: { type: 'string', default: '60s' },
    only: { type: 'string', default: '' },
    'not-atomic': { type: 'boolean', default: false },
    'ascii-keys': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  })
  const [module, extra] = positionals
  if (module === undefined) throw new UsageError(MODULE)
  if (extra !== undefined) throw new UsageError(`only one module can be tested at a time, also got ${extra}`)
  return {
    module: resolve(module),
    isExact: values.exact,
    isServed: values.serve,
    processes: readCount('processes', values.processes, 2, 64),
    parallel: readCount('parallel', values.parallel, 1, 64),
    timeoutMs: readDuration('timeout', values.timeout, '60s'),
    only: values.only,
    atomicAcrossKeys: !values['not-atomic'],
    anyKey: !values['ascii-keys'],
    json: values.json,
  }
}

function readCount(option: string, text: string, min: number, max: number): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= min && count <= max) return count
  throw new UsageError(
    `--${option} must be a whole number from ${min} to ${max}, got ${JSON.stringify(text)}`,
  )
}
