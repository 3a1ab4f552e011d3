import { didYouMean } from '../arguments.js'
import { InputError } from '../failures.js'
import { jsonText } from '../output.js'
import { type KeySettings, parseBlockArguments, parseKeyArguments } from './arguments.js'
import { blockIdentity } from './block.js'
import { connectStore, type StoreConnection } from './connection.js'
import { type KeyReport, keyReport, readStandings } from './inspect.js'
import { readPolicies } from './published-policies.js'
import { blockedText, listText, quoted, releasedText, standingsText } from './report-text.js'
import { type FoundKey, type SearchResult, searchStore } from './search.js'
import { fullName, policyFor, type StoredLimit } from './stored-limit.js'

/** How many keys are forgotten at a time. */
const FORGET_TOGETHER = 1000

/** Runs `headgate inspect`. Returns what it prints. */
export async function inspectCommand(args: readonly string[]): Promise<string> {
  const settings = parseKeyArguments(args, process.env)
  return withSearch(settings, async (connection, found) => {
    const limits = new Set(found.keys.map(({ limit }) => limit))
    const policies = await readPolicies(connection, settings.prefix, limits)
    const standings = await readStandings(connection, found.keys, policies)
    if (settings.json) return jsonText({ identity: settings.identity, limits: standings })
    return standings.length === 0 ? `${nothingText(settings, found)}\n` : standingsText(standings)
  })
}

/** Runs `headgate release`. Returns what it prints. */
export async function releaseCommand(args: readonly string[]): Promise<string> {
  const settings = parseKeyArguments(args, process.env)
  return withSearch(settings, async (connection, found) => {
    const keys = found.keys.map(
      ({ key, limit }) => ({ type: 'forget', key, policy: policyFor(limit) }) as const,
    )
    for (let i = 0; i < keys.length; i += FORGET_TOGETHER)
      await connection.apply(keys.slice(i, i + FORGET_TOGETHER))
    const released = reportsOf(found.keys)
    if (settings.json) return jsonText({ identity: settings.identity, released })
    return released.length === 0 ? `${nothingText(settings, found)}\n` : releasedText(settings, released)
  })
}

/** Runs `headgate block`. Returns what it prints. */
export async function blockCommand(args: readonly string[]): Promise<string> {
  const settings = parseBlockArguments(args, process.env)
  const { identity, banMs, json } = settings
  return withSearch(settings, async (connection, found) => {
    if (found.limits.size === 0) throw new InputError(nothingText(settings, found))
    const policies = await readPolicies(connection, settings.prefix, found.limits.keys())
    const blocked = reportsOf(await blockIdentity(connection, found, policies, settings))
    if (json) return jsonText({ identity, forMs: banMs, blocked })
    return blockedText(settings, blocked, banMs)
  })
}

/** Runs a command on what a search of the store found, and closes the connection. */
async function withSearch(
  settings: KeySettings,
  run: (connection: StoreConnection, found: SearchResult & AllLimits) => Promise<string>,
): Promise<string> {
  const connection = await connectStore(settings.store, process.cwd())
  try {
    return await run(connection, narrow(await searchStore(connection, settings), settings))
  } finally {
    connection.close()
  }
}

/** The limits of a store, before `--limiter` has narrowed them. */
interface AllLimits {
  readonly all: readonly StoredLimit[]
}

function narrow({ limits, keys }: SearchResult, { limiters }: KeySettings): SearchResult & AllLimits {
  const all = Array.from(limits.keys())
  if (limiters.length === 0) return { limits, keys, all }
  const isWanted = (limit: StoredLimit) =>
    limiters.includes(limit.limiter) || limiters.includes(fullName(limit))
  return {
    limits: new Map(Array.from(limits).filter(([limit]) => isWanted(limit))),
    keys: keys.filter(({ limit }) => isWanted(limit)),
    all,
  }
}

function reportsOf(keys: readonly FoundKey[]): KeyReport[] {
  return keys.map(({ limit, identity }) => keyReport(limit, identity))
}

/** Returns the line that says that nothing was found, and what may be the reason. */
function nothingText(
  { identity, prefix, limiters, hasSecret }: KeySettings,
  { limits, all }: SearchResult & AllLimits,
): string {
  const what = `nothing is stored for ${quoted(identity)}`
  if (all.length === 0) return `${what}: the store has no limit under the prefix ${JSON.stringify(prefix)}`
  if (limits.size === 0) {
    const names = all.map(fullName)
    const [limiter = ''] = limiters
    const limiterNames = [...new Set([...all.map(({ limiter }) => limiter), ...names])]
    return `${what} by ${JSON.stringify(limiter)}, which has no keys${didYouMean('', limiter, limiterNames)}`
  }
  const hint = hasSecret ? '' : ' (if the limiters have a secret, set HEADGATE_SECRET)'
  return `${what} by ${listText(Array.from(limits.keys(), fullName))}${hint}`
}
