import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Incident } from './incident.js'
import type { Stage } from './stage.js'

/** How long balancers wait before they end a process that they send no requests to. */
const DRAIN_MS = 300

const lastOf = ({ servers }: Stage) => {
  const last = servers.at(-1)
  if (last === undefined) throw new Error('there must be a server')
  return last
}

const isQuiet = async (page: Page) => (await page.locator('[data-headline]').count()) === 0

/** The decisions that the first server makes without the store, which its page cannot read from the others. */
async function compareDecisions(stage: Stage) {
  let [counted, shown] = [0, -1]
  for (let attempts = 0; attempts < 20 && shown !== counted; attempts++) {
    await pause(250) // the page shows what was decided a second ago
    counted = stage.traffic.decidedWithoutStore(stage.servers[0]?.port ?? 0)
    const { outages = [] } = await stage.frame()
    shown = outages.reduce((sum, { decisions }) => sum + decisions, 0)
  }
  return { counted: [counted], shown: [shown] }
}

export const storeFrozen: Incident = {
  name: 'a frozen Redis',
  async begin({ redis }) {
    await redis.kill('SIGSTOP')
    return undefined
  },
  says: [/redis \(127\.0\.0\.1:\d+\) has not replied since/, /process/, /\d+ decisions? without it/],
  clicks: [],
  compare: compareDecisions,
  end: async ({ redis }) => redis.kill('SIGCONT').then(() => undefined),
  isSolved: (_, page) => isQuiet(page),
}

export const storeSlow: Incident = {
  name: 'a Redis that replies in 400 ms',
  async begin({ servers }) {
    for (const { proxy } of servers) proxy.behave({ replyDelayMs: 400 })
    return undefined
  },
  says: [
    /redis \(127\.0\.0\.1:\d+\) has replied too late( to (\S+ \(pid \d+\), )?\d of 4 processes)? \(after 4\d\d ms; the timeout is \d+ ms\) since/,
    /process/,
  ],
  clicks: [],
  async end({ servers }) {
    for (const { proxy } of servers) await proxy.heal()
  },
  isSolved: (_, page) => isQuiet(page),
}

export const processCutOff: Incident = {
  name: 'one process of four that is cut off from Redis',
  async begin(stage) {
    lastOf(stage).proxy.behave({ swallow: 'both' })
    return undefined
  },
  says: [/\(pid \d+\) has died, or cannot reach redis: silent since/, /3 of 4 processes still report/],
  clicks: [],
  async end(stage) {
    const { proxy } = lastOf(stage)
    await proxy.heal()
    proxy.cut('reset') // what was swallowed is never answered
  },
  isSolved: (_, page) => isQuiet(page),
}

export const processDied: Incident = {
  name: 'a process that died',
  calmMs: 60_000, // shares are of the last minute
  async begin(stage) {
    const last = lastOf(stage)
    stage.traffic.leave(last.port)
    last.child.kill('SIGKILL')
    return undefined
  },
  says: [
    /\(pid \d+\) has died, or cannot reach redis: silent since/,
    /3 of 4 processes still report/,
    /decided \d+% of the requests/,
  ],
  clicks: [],
  async compare(_, sentence) {
    const [, share] = /decided (\d+)%/.exec(sentence) ?? []
    return { counted: [25], shown: [Number(share)], tolerance: 5 } // requests go to all by turns
  },
  async end(stage) {
    const { port } = lastOf(stage)
    await stage.restart(lastOf(stage))
    stage.traffic.join(port)
  },
  isSolved: (_, page) => isQuiet(page),
}

export const processesDeployed: Incident = {
  name: 'a deployment that restarts all processes',
  async begin(stage) {
    for (const [i, server] of [...stage.servers].entries()) {
      const { child, port } = server
      stage.traffic.leave(port)
      await pause(DRAIN_MS)
      child.kill(i % 2 === 0 ? 'SIGTERM' : 'SIGKILL') // some applications do not close their dashboard
      await new Promise((resolve) => child.once('exit', resolve))
      await stage.restart(server)
      stage.traffic.join(port)
    }
    return undefined
  },
  says: [],
  clicks: [],
  async compare(stage) {
    const { processes = [] } = await stage.frame()
    const alive = processes.filter(({ state }) => state === 'alive')
    return { counted: [4, 8], shown: [alive.length, processes.length] }
  },
  isSolved: (_, page) => isQuiet(page),
}
