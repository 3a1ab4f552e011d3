import { calibrate } from './calibrate.js'
import { COSTS, type Costs, type StoreKind } from './costs.js'
import { type Command, readCommand } from './options.js'
import { printOverload } from './overload/report.js'
import { LEGEND, printCosts, printOutcomes } from './report.js'
import { GROUPS, type Group } from './scenarios.js'
import { type Outcome, simulate } from './simulate.js'
import { validate } from './validate.js'

type AllCosts = Readonly<Record<StoreKind, Costs>>

/** Prints the default scenarios, or one from the command line; or compares simulations with real runs. */
async function main(command: Command): Promise<void> {
  if (command.validate) {
    process.exitCode = (await validate()) ? 0 : 1
    return
  }
  if (command.overload) return printOverload(command.overload)
  const costs = command.calibrate ? await measuredCosts(command.scenario?.store) : COSTS
  printCosts(costs)
  console.log(LEGEND)
  const own = command.scenario && { title: 'Your scenario', scenarios: { simulated: command.scenario } }
  for (const group of own ? [own] : GROUPS) await printGroup(group, costs)
}

/** Measures the costs of one store, or of all of them. */
async function measuredCosts(only: StoreKind | undefined): Promise<AllCosts> {
  const costs = { ...COSTS }
  const kinds = only ? [only] : (Object.keys(COSTS) as StoreKind[])
  for (const kind of kinds) costs[kind] = await calibrate(kind)
  return costs
}

async function printGroup({ title, scenarios }: Group, costs: AllCosts): Promise<void> {
  const outcomes = new Map<string, Outcome>()
  for (const [name, scenario] of Object.entries(scenarios)) {
    outcomes.set(name, await simulate(scenario, costs[scenario.store]))
  }
  printOutcomes(title, outcomes)
}

let command: Command
try {
  command = readCommand(process.argv.slice(2))
} catch (error) {
  console.error((error as TypeError).message)
  process.exit(1)
}
await main(command)
