import { createServer } from 'node:http'
import { type LiveContender, liveApp, type ScenarioName } from './contenders/live-apps.js'
import { type LiveLoginName, loginApp } from './contenders/live-logins.js'
import { serveForParent } from './harness/server-child.js'

// Arguments: 'login' or a scenario, what guards it, and perhaps the address of a Redis.
const [scenario, contender, redisUrl] = process.argv.slice(2)
const app =
  scenario === 'login'
    ? loginApp(contender as LiveLoginName, redisUrl)
    : liveApp(contender as LiveContender, scenario as ScenarioName, redisUrl)
serveForParent(createServer(app))
