import { createServer } from 'node:http'
import { liveApp } from './contenders/live-apps.js'
import { serveForParent } from './harness/server-child.js'

const [contender = '', scenario = '', redisUrl] = process.argv.slice(2)
serveForParent(createServer(liveApp(contender, scenario, redisUrl)))
