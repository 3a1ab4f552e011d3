import { createServer } from 'node:http'

import express = require('express')
import headgate = require('headgate')
import statuses = require('./statuses.cjs')

const policy: headgate.Policy = headgate.slidingWindow({ limit: 2, window: '1h' })
const store: headgate.Store = headgate.memoryStore()

const app = express()
app.use(
  headgate.rateLimit({
    policy,
    store,
    cost: (req: express.Request) => (req.path === '/' ? 1 : 2),
    headers: 'draft',
  }),
)
app.get('/', (req, res) => {
  const decision: headgate.Decision | undefined = req.rateLimit
  // @ts-expect-error: the figures are numbers
  const wrong: string | undefined = req.rateLimit?.remaining
  res.json({ remaining: decision?.remaining, wrong })
})

statuses.statusesOf(createServer(app)).then((answers) => console.log(process.version, answers))
