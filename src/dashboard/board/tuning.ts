import { demandsInForce } from '../../tuning/demand-in-force.js'
import type { Proposal } from '../../tuning/proposal.js'
import { propose } from '../../tuning/propose.js'
import { type AskedTrial, planOf } from '../../tuning/trial/plan.js'
import type { Trial, TrialOrigin } from '../../tuning/trial/trial.js'
import type { Group } from '../shared/group.js'
import type { Trials } from './trials.js'

/** What is proposed for a limiter, and tried. */
export interface LimiterTuning {
  /** One for each limit in force whose clients are counted. */
  readonly proposals: readonly Proposal[]
  /** The last trial; absent if there was none. */
  readonly trial?: Trial
}

/** Proposals of limits, and trials that an operator starts, approves and ends. Unknown limiters reject. */
export interface Tuning {
  read(limiter: string): Promise<LimiterTuning>
  /** Reads the last trial; `undefined` if there was none. */
  trial(limiter: string): Promise<Trial | undefined>
  start(asked: AskedTrial, origin: TrialOrigin): Promise<Trial | undefined>
  approve(limiter: string, origin: TrialOrigin): Promise<Trial | undefined>
  stop(limiter: string, origin: TrialOrigin): Promise<Trial | undefined>
}

export function tuningOf(groups: readonly Group[], trials: readonly Trials[]): Tuning {
  function find(limiter: string) {
    const index = groups.findIndex(({ histories }) => histories.has(limiter))
    const watch = groups[index]?.options.watches.find(({ name }) => name === limiter)
    const [history, own] = [groups[index]?.histories.get(limiter), trials[index]]
    if (watch !== undefined && history !== undefined && own !== undefined)
      return {
        watch,
        trials: own,
        demands: async () => demandsInForce(await history.demands(), watch.limitsInForce()),
      }
    throw new TypeError(`tune: there is no limiter ${limiter}. Name a limiter of this dashboard.`)
  }

  return {
    async read(limiter) {
      const found = find(limiter)
      const [demands, trial] = await Promise.all([found.demands(), found.trials.read(limiter)])
      return { proposals: demands.map(propose), ...(trial && { trial }) }
    },
    trial: async (limiter) => find(limiter).trials.read(limiter),
    async start(asked, origin) {
      const { watch, trials: own, demands } = find(asked.limiter)
      const current = watch.limitsInForce().filter(({ name }) => name === asked.limitName)
      if (current.length === 0)
        throw new TypeError(`tune: limitName must be a limit of ${asked.limiter}, got ${asked.limitName}.`)
      if (current.every(({ limit }) => limit === asked.limit))
        throw new TypeError(`tune: ${asked.limit} is already in force. Try another limit.`)
      const demand = (await demands()).find(({ limitName }) => limitName === asked.limitName)
      return own.take(asked.limiter, (each) => each.start(planOf(asked, demand), origin))
    },
    approve: async (limiter, origin) =>
      find(limiter).trials.take(limiter, (each) => each.approve(limiter, origin)),
    stop: async (limiter, origin) => find(limiter).trials.take(limiter, (each) => each.stop(limiter, origin)),
  }
}
