import { durationText } from '../util/durations.js'
import { type ClientGroup, FEW_CLIENTS, type Proposal, SHORT_MS } from './proposal.js'

/** From this share of denied clients on, a limit that would be raised may be under attack by many. */
const MANY_DENIED = 0.2

/** A proposal before its texts. */
export type Untold = Omit<Proposal, 'reason' | 'cautions'>

/** Says why a limit is proposed, in one sentence. */
export function reasonOf(proposal: Untold): string {
  const { verdict, limit = 0, inForce = 0, crowd, clients } = proposal
  if (crowd === undefined) return 'No client asked for anything, so there is nothing to learn from.'
  const current = `the limit in force (${count(inForce)})`
  const [them, all, some] =
    clients === 1 ? ['it', 'it', 'it'] : ['them', 'them all', `${count(crowd.denied)} of them`]
  const ends = {
    set: `, so ${count(limit)} leaves ${them} room`,
    raise: `, but ${current} denied ${some}, so ${count(limit)} lets ${all} pass`,
    lower: `, far below ${current}, so ${count(limit)} still leaves ${them} room`,
    keep: `, so ${current} ${crowd.denied === 0 ? `lets ${them} pass` : `leaves ${them} room, although it denied ${some}`}`,
    unknown: '',
  }
  return `${crowdText(proposal, crowd)}${ends[verdict]}${apartText(proposal)}.`
}

function crowdText({ clients, apart, windowMs }: Untold, crowd: ClientGroup): string {
  const peak = `${count(crowd.largestPeak)} in ${durationText(windowMs)}`
  if (apart !== undefined)
    return `${count(crowd.clients)} of ${count(clients)} clients asked for at most ${peak}`
  if (clients === 1) return `The only client asked for at most ${peak}`
  return `None of the ${count(clients)} clients asked for more than ${peak}`
}

function apartText({ apart, limit = 0 }: Untold): string {
  if (apart === undefined) return ''
  const who = `the ${apart.clients === 1 ? 'one' : count(apart.clients)} that asked for ${range(apart)}`
  return limit < apart.smallestPeak ? ` and denies ${who}` : `, with ${who} set apart`
}

/** Says what to look at before a proposal is believed, each in a few sentences. */
export function cautionsOf(proposal: Untold): readonly string[] {
  return [
    guessText(proposal),
    ...groupsText(proposal),
    ...apartAdvice(proposal),
    ...raiseText(proposal),
  ].filter((text) => text !== '')
}

function guessText({ clients, fromMs, toMs }: Untold): string {
  const isShort = toMs - fromMs < SHORT_MS
  const span = spanText(toMs - fromMs)
  if (clients < FEW_CLIENTS) {
    const seen = clients === 1 ? 'one client was seen' : `${count(clients)} clients were seen`
    return `Only ${seen}${isShort ? ` in ${span}` : ''}, so the limit is a guess.`
  }
  return isShort ? `The traffic covers ${span}, less than a day, so other hours may need more.` : ''
}

function groupsText({ upper, crowd }: Untold): readonly string[] {
  if (upper === undefined || crowd === undefined) return []
  const lower = crowd.clients - upper.clients
  const [larger, limit] = [count(upper.clients), count(upper.lowerLimit)]
  return [
    `There are two groups: ${larger} clients asked for ${range(upper)}, and ${count(lower)} for much less. ` +
      `If the ${larger} have another plan, give that plan its own limit, and the others ${limit}. ` +
      `If they are attackers, set ${limit}.`,
  ]
}

function apartAdvice({ apart }: Untold): readonly string[] {
  if (apart === undefined) return []
  const who = apart.clients === 1 ? 'the client set apart' : 'a client that was set apart'
  return [`If ${who} is a customer, give it an override instead of raising the limit for everyone.`]
}

function raiseText({ verdict, crowd }: Untold): readonly string[] {
  if (verdict !== 'raise' || crowd === undefined || crowd.denied < MANY_DENIED * crowd.clients) return []
  const share = Math.round((100 * crowd.denied) / crowd.clients)
  return [
    `${share}% of these clients were denied. If this is an attack by many clients, do not raise the limit.`,
  ]
}

/** Returns the peaks of a group, such as `600 to 5,000`. */
function range({ smallestPeak, largestPeak }: ClientGroup): string {
  return smallestPeak === largestPeak ? count(largestPeak) : `${count(smallestPeak)} to ${count(largestPeak)}`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** Returns a time in whole units: 5,400,000 is `2 hours`. */
function spanText(ms: number): string {
  const units = [
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1000, 'second'],
  ] as const
  const [sizeMs, name] = units.find(([size]) => ms >= size) ?? [1000, 'second']
  const amount = Math.max(1, Math.round(ms / sizeMs))
  return `${amount} ${name}${amount === 1 ? '' : 's'}`
}
