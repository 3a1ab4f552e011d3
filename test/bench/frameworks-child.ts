import {
  type Contender,
  FRAMEWORKS,
  type FrameworkName,
  SCENARIOS,
  type ScenarioName,
} from './contenders/frameworks/frameworks.js'
import { serveForParent } from './harness/server-child.js'

const DAY_MS = 24 * 60 * 60 * 1000

// Arguments: a framework, what limits its requests, and a scenario.
const [framework, contender, scenario] = process.argv.slice(2) as [FrameworkName, Contender, ScenarioName]
const contenders = await FRAMEWORKS[framework].load()
serveForParent(await contenders[contender]({ limit: SCENARIOS[scenario].limit, windowMs: DAY_MS }))
