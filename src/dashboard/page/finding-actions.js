import { count, counted } from './format.js'
import { DAY_MS, HOUR_MS } from './ways.js'

/** The most networks, accounts and clients that one button acts on: those that were denied most. */
const MAX_NETWORKS = 10
const MAX_ACCOUNTS = 3
const MAX_CLIENTS = 50

/**
 * Returns what fits a finding about a limiter: overrides, each with the text of its button, once a new limit is known
 * also with that, and whether a link to its limits does.
 */
export function actionsOf({ finding, mode, hasSettings }) {
  const { kind, networks, identities } = finding
  if (!hasSettings) return { overrides: [], editsLimit: false }
  const isAttack = kind === 'network-denied' || kind === 'account-attacked'
  const isReport = mode === 'report' // nothing is blocked then
  const isOnAccounts =
    kind === 'account-attacked' && networks.length === 0 && identities.length <= MAX_ACCOUNTS
  return {
    overrides: [
      isAttack && !isReport && networks.length > 0 && blockOf(networks.slice(0, MAX_NETWORKS)),
      isOnAccounts && !isReport && blockAccounts(identities),
      kind === 'few-denied' && identities.length > 0 && raiseOf(identities.slice(0, MAX_CLIENTS)),
    ].filter(Boolean),
    editsLimit:
      kind === 'many-denied' || (isAttack && (isReport || (networks.length === 0 && !isOnAccounts))),
  }
}

function blockOf(networks) {
  const [first, ...others] = networks
  const who = others.length === 0 ? first : `${first} and ${counted(others.length, 'other network')}`
  return {
    effect: 'block',
    who,
    targets: networks.map((network) => ({ network })),
    durationMs: HOUR_MS,
    text: `Block ${who} for 1 hour`,
  }
}

function blockAccounts(identities) {
  const who = identities.length === 1 ? identities[0] : counted(identities.length, 'account')
  return {
    effect: 'block',
    who,
    targets: identities.map((identity) => ({ storedIdentity: identity })),
    durationMs: HOUR_MS,
    text: `Block ${who} for 1 hour`,
    note:
      identities.length === 1
        ? 'The owner of the account is also denied.'
        : 'The owners of the accounts are also denied.',
  }
}

function raiseOf(identities) {
  const whose = identities.length === 1 ? 'its limit' : `the limit of ${counted(identities.length, 'client')}`
  return {
    effect: 'raise',
    who: identities.length === 1 ? identities[0] : counted(identities.length, 'client'),
    targets: identities.map((identity) => ({ storedIdentity: identity })),
    durationMs: DAY_MS,
    text: `Raise ${whose} for 1 day`,
    textTo: (limit) => `Raise ${whose} to ${count(limit)} for 1 day`,
  }
}
