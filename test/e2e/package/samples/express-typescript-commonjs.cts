import express = require('express')
import headgate = require('headgate')

const policy: headgate.Policy = headgate.tokenBucket({ capacity: 5, refill: 5, every: '1h' })
const store: headgate.Store = headgate.memoryStore()

const app = express()
app.use(headgate.rateLimit({ policy, store, skip: (req) => req.path === '/health' }))
app.get('/', (req, res) => {
  res.json({ remaining: req.rateLimit?.remaining })
})
app.listen(Number(process.env.PORT), '127.0.0.1')
