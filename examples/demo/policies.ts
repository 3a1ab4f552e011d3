import type { Router } from 'express'
import { ban, fixedWindow, rateLimit, type Store, slidingWindow, tokenBucket } from 'headgate'

/** Adds a route for each policy, and returns their limits: all of them allow ten requests in ten seconds. */
export function servePolicies(app: Router, store: Store) {
  // #region token-bucket
  const bucket = rateLimit({
    policy: tokenBucket({ capacity: 10, refill: 10, every: '10s' }),
    name: 'token-bucket',
    headers: 'draft',
    store, // demo only
  })
  app.get('/token-bucket', bucket, (_req, res) => {
    res.json({ time: new Date() })
  })
  // #endregion

  // #region sliding-window
  const sliding = rateLimit({
    policy: slidingWindow({ limit: 10, window: '10s' }),
    name: 'sliding-window',
    headers: 'draft',
    store, // demo only
  })
  app.get('/sliding-window', sliding, (_req, res) => {
    res.json({ time: new Date() })
  })
  // #endregion

  // #region fixed-window
  const fixed = rateLimit({
    policy: fixedWindow({ limit: 10, window: '10s' }),
    name: 'fixed-window',
    headers: 'draft',
    store, // demo only
  })
  app.get('/fixed-window', fixed, (_req, res) => {
    res.json({ time: new Date() })
  })
  // #endregion

  // #region first-request
  const own = rateLimit({
    policy: fixedWindow({ limit: 10, window: '10s', startsAt: 'first-request' }),
    name: 'first-request',
    headers: 'draft',
    store, // demo only
  })
  app.get('/first-request', own, (_req, res) => {
    res.json({ time: new Date() })
  })
  // #endregion

  // #region ban
  const window = slidingWindow({ limit: 10, window: '10s' })
  const banning = rateLimit({
    policy: ban(window, { after: 8, within: '30s', for: ['10s', '30s'] }),
    name: 'ban',
    headers: 'draft',
    store, // demo only
  })
  app.get('/ban', banning, (_req, res) => {
    res.json({ time: new Date() })
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
