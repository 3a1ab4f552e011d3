import { createServer } from 'node:http'
import { liveApp, type ScenarioName } from './contenders/live-apps.js'
import type { LiveLimiterName } from './contenders/live-limiters.js'
import { type LiveLoginName, loginApp } from './contenders/live-logins.js'
import { serveForParent } from './harness/server-child.js'

// Arguments: 'login' and a guard; or 'limiter', a limiter, a scenario and perhaps the address of a Redis.
const [kind, contender, scenario, redisUrl] = process.argv.slice(2)
const app =
  kind === 'login'
    ? loginApp(contender as LiveLoginName)
    : liveApp(contender as LiveLimiterName, scenario as ScenarioName, redisUrl)
serveForParent(createServer(app))
