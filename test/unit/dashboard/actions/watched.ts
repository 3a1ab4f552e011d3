import {
  createLimiter,
  fixedWindow,
  type Limiter,
  memoryStore,
  type SharedSettings,
  sharedSettings,
} from 'headgate'
import type { Watched } from '../../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'

/** A limiter with settings, as actions see it. */
export interface WatchedLimiter {
  readonly limiter: Limiter<string>
  readonly settings: SharedSettings
  readonly watched: Watched
}

/** Creates a limiter of three requests an hour, which follows settings in a memory store. */
export function watchedLimiter(options: object = {}): WatchedLimiter {
  const store = memoryStore()
  const settings = sharedSettings(store)
  const limiter = createLimiter<string>({
    name: 'api',
    policy: fixedWindow({ limit: 3, window: '1h' }),
    key: (id: string) => id,
    store,
    settings,
    ...options,
  } as never) as Limiter<string>
  const inspection = inspectionOf(limiter) as Inspection
  return { limiter, settings, watched: { name: 'api', limiter: limiter as Limiter<never>, inspection } }
}

/** Takes `count` units of an identity. Returns whether each charge was allowed. */
export async function charge(limiter: Limiter<string>, identity: string, count = 1): Promise<boolean[]> {
  const allowed: boolean[] = []
  for (let i = 0; i < count; i++) allowed.push((await limiter.charge(identity)).allowed)
  return allowed
}
