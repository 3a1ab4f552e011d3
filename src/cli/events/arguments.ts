import { resolve } from 'node:path'
import { readArguments } from '../arguments.js'
import { UsageError } from '../failures.js'
import { readStoreUrl, type StoreAddress } from '../keys/store-url.js'

/** Which events are asked for. */
export interface EventSettings {
  /** A server of Redis, or the path of a module that exports a store. */
  readonly store: StoreAddress | string
  readonly prefix: string
  readonly limiter: string | undefined
  readonly follow: boolean
}

/** Returns which events a command line asks for. Throws a `UsageError` for the first wrong argument. */
export function parseEventArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): EventSettings {
  const { values, positionals } = readArguments(args, {
    follow: { type: 'boolean', default: false },
    limiter: { type: 'string' },
    prefix: { type: 'string', default: 'hg' },
  })
  const [given = env.HEADGATE_STORE, ...others] = positionals
  if (given === undefined || given === '')
    throw new UsageError(
      'no store given: pass a URL such as redis://127.0.0.1:6379, or a module such as ./store.js',
    )
  if (others.length > 0) throw new UsageError(`expected one store, got ${positionals.length}`)
  if (values.prefix === '') throw new UsageError('--prefix must not be empty')
  const store = /^[\w+.-]+:\/\//.test(given) ? readStoreUrl(given, 'the store') : resolve(given)
  return { store, prefix: values.prefix, limiter: values.limiter, follow: values.follow }
}
