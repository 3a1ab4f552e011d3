import { type Address, parseAddress } from '../../keys/address.js'
import { valueHash } from '../../keys/value-identity.js'
import type { SettingsOverride } from '../../limiter/settings-document.js'
import type { OverrideTable } from '../../settings/override-table.js'
import { isOfAddress } from '../../settings/read-target.js'
import type { Effect } from '../../settings/rules.js'

/** The override of a client, as far as its stored identity tells it. */
export interface FoundOverride {
  readonly effect: Effect | undefined
  /** Whether overrides by prefix, or of networks, were not looked at, because the identity is a hash. */
  readonly missesPrefixes: boolean
  readonly missesNetworks: boolean
}

/**
 * Creates the function that finds the override of a client by the identity that stores keep. An identity that an
 * override names is hashed, as stores do. Others are known only if they are addresses.
 */
export function overrideFinder(
  table: OverrideTable<Effect>,
  overrides: readonly SettingsOverride[],
  secret: string | undefined,
): (identity: string) => FoundOverride {
  const rawByStored = new Map(
    overrides.flatMap(({ identity }) =>
      identity === undefined ? [] : storedForms([identity].flat(), secret),
    ),
  )
  const hasPrefixes = overrides.some(({ identityPrefix }) => identityPrefix !== undefined)

  return (identity) => {
    const raw = rawByStored.get(identity) ?? (isOfAddress(identity) ? identity : undefined)
    const ofIdentity = table.ofIdentity(raw ?? '', identity)
    const address = addressOf(identity)
    return {
      effect: ofIdentity ?? table.ofAddress(address),
      missesPrefixes: ofIdentity === undefined && hasPrefixes && raw === undefined,
      missesNetworks: ofIdentity === undefined && table.hasNetworks && address === undefined,
    }
  }
}

/** Returns the identities that stores may keep for what the keys of a limit return, with the latter. */
function storedForms(parts: readonly string[], secret: string | undefined): (readonly [string, string])[] {
  const hash = valueHash(secret)
  const raw = parts.join('\0')
  const inClear = parts.map((part) => (secret === undefined && isOfAddress(part) ? part : hash(part)))
  return [parts.map(hash), inClear].map((each) => [each.join('|'), raw])
}

function addressOf(identity: string): Address | undefined {
  return isOfAddress(identity) ? parseAddress(identity.split('/', 1)[0]) : undefined
}
