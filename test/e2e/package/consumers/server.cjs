const { createServer } = require('node:http')
const { rateLimit } = require('headgate')
const { statusesOf } = require('./statuses.cjs')

const limit = rateLimit({ limit: 2, window: '1h' })
const server = createServer((req, res) => limit(req, res, () => res.end('hello\n')))

statusesOf(server).then((statuses) => console.log(process.version, statuses))
