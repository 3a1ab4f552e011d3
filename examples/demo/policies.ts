import { ban, fixedWindow, rateLimit, type Store, slidingWindow, tokenBucket } from 'headgate'

/** Creates a limiter of each policy. All of them allow ten requests in ten seconds. */
export function policyLimits(store: Store) {
  // #region token-bucket
  const bucket = rateLimit({
    policy: tokenBucket({ capacity: 10, refill: 10, every: '10s' }),
    name: 'token-bucket',
    headers: 'draft',
    store,
  })
  // #endregion

  // #region sliding-window
  const sliding = rateLimit({
    policy: slidingWindow({ limit: 10, window: '10s' }),
    name: 'sliding-window',
    headers: 'draft',
    store,
  })
  // #endregion

  // #region fixed-window
  const fixed = rateLimit({
    policy: fixedWindow({ limit: 10, window: '10s' }),
    name: 'fixed-window',
    headers: 'draft',
    store,
  })
  // #endregion

  // #region first-request
  const own = rateLimit({
    policy: fixedWindow({ limit: 10, window: '10s', startsAt: 'first-request' }),
    name: 'first-request',
    headers: 'draft',
    store,
  })
  // #endregion

  // #region ban
  const window = slidingWindow({ limit: 10, window: '10s' })
  const banning = rateLimit({
    policy: ban(window, { after: 8, within: '30s', for: ['10s', '30s'] }),
    name: 'ban',
    headers: 'draft',
    store,
  })
  // #endregion

  return {
    'token-bucket': bucket,
    'sliding-window': sliding,
    'fixed-window': fixed,
    'first-request': own,
    ban: banning,
  }
}
