const express = require('express')
const { rateLimit } = require('headgate')

const app = express()
app.use(rateLimit({ limit: 5, window: '1h' }))
app.get('/', (_req, res) => {
  res.send('hello')
})
app.listen(Number(process.env.PORT), '127.0.0.1')
