import { describePolicy } from '../policies/describe-policy.js'
import { durationInWords } from '../util/durations.js'
import type { LoginSettings } from './options.js'

/** What is told of a guard beside its own settings. */
export interface Described {
  readonly name: string
  readonly statusCode: number
  /** What refused attempts are told of when to come back, in whole milliseconds; `undefined` = nothing, or the exact time. */
  readonly coarseMs: number
  readonly onStoreError: unknown
  /** False = in report mode. */
  readonly enforce: boolean
}

const WHEN_STORE_FAILS: Readonly<Record<string, string>> = {
  local: 'each process counts in its own memory',
  deny: 'attempts are refused with status 503',
  allow: 'attempts are let through without limits',
}

/** The limits in force as a short text, for the security documentation that OWASP ASVS 5.0 asks for (6.1.1). */
export function describeGuard<Req, Res>(settings: LoginSettings<Req, Res>, described: Described): string {
  const { policies, mostInARow, devices } = settings
  const { name, statusCode, onStoreError, enforce } = described
  const lines = [
    `Login guard "${name}". Failed attempts are limited, all at once; each is counted before the password is checked.`,
    `- From one address (IPv6: one network), whatever the account: ${describePolicy(policies.address)}.`,
    `- For one account, from all addresses together: ${describePolicy(policies.account)}.`,
    `- For one account from one address: ${describePolicy(policies.accountAndAddress)}.`,
  ]
  if (mostInARow !== false) {
    lines.push(
      `- For one account in a row, at any time: ${mostInARow}; then it is locked until it is released by hand.`,
    )
  }
  if (devices !== undefined) {
    const lasts = durationInWords(devices.lastsMs)
    const inARow =
      mostInARow === false ? '' : '; in a row, all such browsers of an account are counted together'
    lines.push(
      `- A browser that logged in to the account within ${lasts} is counted apart from all others, and not by its address${inARow}.`,
    )
  }
  lines.push(
    '- A success clears the failures of its account, and takes back its own from the address.',
    `- Refused attempts are answered alike, with status ${statusCode}, whether there is such an account or not${told(settings, described)}.`,
    `- While the store is out of reach, ${WHEN_STORE_FAILS[String(onStoreError)] ?? 'a function of the application decides'}.`,
  )
  if (!enforce) lines.push('- For now this is only reported: no attempt is refused.')
  return lines.join('\n')
}

function told<Req, Res>({ retryAfter }: LoginSettings<Req, Res>, { coarseMs }: Described): string {
  if (retryAfter === 'coarse') return `, and told to come back in ${durationInWords(coarseMs)}`
  return retryAfter === 'exact' ? ', and told when to come back' : ''
}
