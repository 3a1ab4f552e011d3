import { createServer } from 'node:http'
import { rateLimit } from 'headgate'
import { statusesOf } from './statuses.cjs'

const limit = rateLimit({ limit: 2, window: '1h' })
const server = createServer((req, res) => limit(req, res, () => res.end('hello\n')))

console.log(process.version, await statusesOf(server))
