// Global augmentations, as Passport (`Express.User`) and express-session (`req.session`) declare them.
import express from 'express'
import { byUser, loginGuard, rateLimit } from 'headgate'

declare global {
  namespace Express {
    interface User {
      id: string
      plan: 'free' | 'paid'
    }
    interface Request {
      user?: User | undefined
      session: { userId?: string }
    }
    interface Locals {
      theme?: string
    }
  }
}

const app = express()
app.use(
  rateLimit({ limit: 2, window: '1m', key: (req) => req.user?.id, skip: (req) => req.user?.plan === 'paid' }),
)
app.use(rateLimit({ limit: 2, window: '1m', key: byUser((req) => req.session.userId) }))
app.use(rateLimit({ limit: 2, window: '1m', key: [byUser((req) => req.user?.plan), byUser()] }))
app.post('/code', loginGuard({ account: (req) => req.session.userId }), (req, res) => {
  res.json({ user: req.user?.id, allowed: req.rateLimit?.allowed })
})
export const unknownProperties = [
  // @ts-expect-error: the user has no such property
  rateLimit({ limit: 2, window: '1m', key: (req) => req.user?.email }),
  // @ts-expect-error: the session has no such property
  loginGuard({ account: (req) => req.session.accountId }),
]
