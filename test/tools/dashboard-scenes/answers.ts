import type { EditableSettings } from '../../../src/dashboard/actions/edit.js'
import type { InForce, LimiterInForce } from '../../../src/dashboard/actions/in-force.js'
import type { Found } from '../../../src/dashboard/actions/lookup.js'
import type { Raise } from '../../../src/dashboard/actions/raise.js'
import type { PageFigures } from '../../../src/dashboard/figures/shown.js'
import { RequestError } from '../../../src/dashboard/server/respond.js'
import { tuningAnswer } from './trials.js'

const MINUTE_MS = 60_000
/** The limiter that cannot propose or preview anything, and the one whose settings another operator changes. */
export const FAILING = 'mail'
export const CONTESTED = 'login'

type Body = Readonly<Record<string, unknown>>
const nowMs = Date.now()

/** Returns what the server answers to those who read, for the limiters of some figures. */
export function readingAnswers(figures: PageFigures): Readonly<Record<string, (body: Body) => object>> {
  const names = () => figures.rows().map(({ name }) => name)
  return {
    lookup: ({ identity }) => ({
      found: names()
        .slice(0, 3)
        .map((name, i) => foundIn(name, i, String(identity))),
    }),
    'in-force': ({ limiter }) => ({
      limiters: (limiter === undefined ? names() : [String(limiter)]).map((name) => inForceOf(name)),
    }),
    tuning: ({ limiter }) => tuningAnswer(String(limiter), nowMs),
    proposal: ({ limiter, targets }) => proposalFor(String(limiter), targets as readonly object[]),
    preview: ({ limiter, effect }) => previewOf(String(limiter), effect),
    settings: ({ limiter }) => settingsOf(String(limiter)),
  }
}

/** Throws what the server answers to a change that it rejects. */
export function checkChange(action: string, { limiter }: Body): void {
  if (action === 'save' && limiter === CONTESTED) {
    const change = { ...WHO, id: 'omars', parts: [] }
    const conflict = {
      path: `limits.${CONTESTED}`,
      before: { limit: 12 },
      theirs: { limit: 20 },
      yours: { limit: 30 },
    }
    throw new RequestError(409, 'conflict', {}, { conflicts: [{ ...conflict, change }], base: 'omars' })
  }
  if (limiter === FAILING)
    throw new RequestError(503, 'redis: no reply within 800 ms', {}, { isUnknown: true })
}

const WHO = { by: 'omar', reason: 'the partner has doubled its traffic', atMs: nowMs - 20 * MINUTE_MS }

function foundIn(limiter: string, i: number, identity: string): Found {
  const found = { limiter, longestBlockMs: [3_600_000, 0, 0][i] as number, standings: [] }
  if (i === 2) return { ...found, problem: 'redis: no reply within 800 ms' }
  const standing = {
    limitName: limiter,
    limit: 120,
    identity,
    remaining: 0,
    moreAfterMs: 900,
    resetAfterMs: 41_000,
  }
  if (i === 0) return { ...found, standings: [{ ...standing, bannedForMs: 2_400_000 }] }
  return { ...found, listing: 'allow', standings: [{ ...standing, remaining: 14, bannedForMs: 0 }] }
}

/** Everything that can be in force, in the first of the limiters that have something. */
function inForceOf(limiter: string): LimiterInForce {
  if (limiter === FAILING) return { limiter, entries: [], total: 0, problem: 'redis: no reply within 800 ms' }
  const own = limiter === 'search' ? ENTRIES : limiter === 'api' ? ENTRIES.slice(0, 1) : []
  const banned = limiter === 'search' ? { banned: { looked: 256, unread: 744, unreadBlocked: 0 } } : {}
  return { limiter, base: 'latest', entries: own, total: own.length === 0 ? 0 : own.length + 3, ...banned }
}

const ENTRIES: readonly InForce[] = [
  entry('block', ['203.0.113.0/24', '198.51.100.0/24'], { untilMs: nowMs + 48 * MINUTE_MS }),
  entry('ban', ['198.51.100.10'], { untilMs: nowMs + 9 * MINUTE_MS, paths: [] }),
  { kind: 'ban', count: 1, targets: ['198.51.100.12'], paths: [], untilMs: nowMs + 3 * MINUTE_MS },
  entry('exempt', ['trial-…']),
  entry('raise', ['key_9f2c41d0', 'W'.repeat(200), '\u202egnp.exe', 'user-12'], {
    value: { limits: { search: { limit: 400 }, 'search-day': { limit: 90_000, window: '1d' } } } as never,
    count: 41,
    untilMs: nowMs + 30 * 60 * MINUTE_MS,
  }),
  entry('limit', [], { value: { search: { limit: 240 } } as never, reason: 'x'.repeat(400) }),
  entry('mode', [], { value: 'report' }),
  entry('candidate', [], { value: { limits: { search: { limit: 180, window: '1m' } } } as never }),
]

function entry(kind: InForce['kind'], targets: readonly string[], own: Partial<InForce> = {}): InForce {
  return { kind, count: targets.length, targets, paths: [`${kind}-path`], ...WHO, ...own }
}

/** What an override of the contested limiter replaces. */
const { paths: _paths, ...REPLACED } = entry('raise', ['198.51.100.10'], {
  untilMs: nowMs + 48 * MINUTE_MS,
  value: { [CONTESTED]: { limit: 5000 } } as never,
})

function proposalFor(limiter: string, targets: readonly object[]) {
  if (limiter === FAILING) throw new RequestError(503, 'redis: no reply within 800 ms')
  const raise: Raise = { limitName: limiter, limit: 120, windowMs: MINUTE_MS, proposed: 250 }
  const day: Raise = {
    limitName: `${limiter}-day`,
    limit: 60_000,
    windowMs: 1440 * MINUTE_MS,
    proposed: 90_000,
  }
  const isOfNetwork = targets.some((target) => 'network' in target || 'identity' in target)
  return {
    base: 'latest',
    replaces: limiter === CONTESTED ? [REPLACED] : [],
    raises: [raise, day],
    warnings: isOfNetwork
      ? [
          '203.0.113.0/24 contains your own address, 203.0.113.9.',
          '38 clients in 203.0.113.0/24 have had no denials in the last 12 to 24 hours.',
        ]
      : [],
    notes: isOfNetwork ? ['The other clients in 198.51.100.0/24 could not be read.'] : [],
  }
}

function previewOf(limiter: string, effect: unknown) {
  if (limiter === FAILING) throw new RequestError(503, 'redis: no reply within 800 ms')
  const clients = Array.from({ length: 12 }, (_, i) => ({
    identity: `user-${1000 + 37 * i}`,
    peak: 900 - 31 * i,
  }))
  const times = { clients: 3400, fromMs: nowMs - 1440 * MINUTE_MS, toMs: nowMs }
  const isMore = effect === 'raise' || effect === 'exempt'
  const counts = isMore ? { denied: 29, wouldDeny: 17 } : { denied: 17, wouldDeny: 29 }
  const changed = {
    newlyDenied: isMore ? [] : clients,
    newlyDeniedCount: isMore ? 0 : 12,
    noLongerDenied: isMore ? clients : [],
    noLongerDeniedCount: isMore ? 12 : 0,
  }
  const problem = 'What clients asked for is known only for the window in force.'
  return {
    limits: [
      {
        limitName: limiter,
        ...times,
        ...counts,
        ...changed,
        notes: ['3 of the clients are only known by a hash.'],
      },
      { limitName: `${limiter}-day`, ...times, ...counts, ...changed, problem },
    ],
  }
}

function settingsOf(limiter: string): EditableSettings {
  if (limiter === FAILING) throw new RequestError(503, 'redis: no reply within 800 ms')
  const policy = { kind: 'sliding-window', limit: 120, windowMs: MINUTE_MS, slices: 10 } as const
  const described = [
    { name: limiter, policy, from: 'code' },
    { name: `${limiter}-day`, policy: undefined, from: 'code' },
  ] as never
  const part = { path: `limits.${limiter}`, before: { limit: 120 }, after: { limit: 240 } }
  const change = { ...WHO, id: 'latest', parts: [part], partCount: 9 }
  return {
    ...{ limiter, base: 'latest', mode: 'enforce', codeLimits: described, limits: described },
    document: { limits: { [limiter]: { limit: 240 } }, candidate: { limits: { [limiter]: { limit: 180 } } } },
    changes: limiter === 'admin' ? [] : [change, { ...change, id: 'undone', undoes: 'latest', by: 'ines' }],
  } as EditableSettings
}
