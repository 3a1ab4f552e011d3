import { answerQuestions } from '../../bench/harness/child.js'
import { sendLoad } from './load.js'
import { scenarioNamed } from './scenarios.js'

/** What the generator is asked to send. */
export interface LoadQuestion {
  readonly port: number
  readonly scenario: string
  readonly seconds: number
  readonly seed: number
}

answerQuestions(({ port, scenario, seconds, seed }: LoadQuestion) =>
  sendLoad(port, scenarioNamed(scenario), seconds, seed),
)
process.once('disconnect', () => process.exit())
