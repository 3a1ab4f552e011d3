import express from 'express'
import { byUser, type Decision, rateLimit, tokenBucket } from 'headgate'

declare global {
  namespace Express {
    interface Request {
      user?: { id: string; plan: 'free' | 'pro' }
    }
  }
}

const free = tokenBucket({ capacity: 5, refill: 5, every: '1h' })
const pro = tokenBucket({ capacity: 50, refill: 50, every: '1h' })

const app = express()
app.use(rateLimit({ key: byUser(), policy: (req) => (req.user?.plan === 'pro' ? pro : free) }))
app.get('/', (req, res) => {
  const decision: Decision | undefined = req.rateLimit
  res.json({ remaining: decision?.remaining })
})
app.listen(Number(process.env.PORT), '127.0.0.1')
