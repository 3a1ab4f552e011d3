import { answerQuestions } from '../../bench/harness/child.js'
import { sendLoad } from './load.js'
import { type Phase, phaseOf } from './scenario.js'
import { scenarioNamed } from './scenarios.js'

/** What the generator is asked to send. */
export interface LoadQuestion {
  readonly port: number
  readonly scenario: string
  readonly phase: Phase
  readonly seconds: number
  readonly seed: number
}

answerQuestions(({ port, scenario, phase, seconds, seed }: LoadQuestion) =>
  sendLoad(port, phaseOf(scenarioNamed(scenario), phase), seconds, seed),
)
process.once('disconnect', () => process.exit())
