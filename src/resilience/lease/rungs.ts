/**
 * The costs that take up to `units` in one batch, whatever is there: each is taken or not, and each takes half of what is left to
 * take. The last is `cost`: what it is told when it is denied holds for the next charge of that cost.
 */
export function rungs(units: number, cost: number): number[] {
  const costs: number[] = []
  for (let left = units; left >= cost; left -= costs.at(-1) as number) {
    costs.push(Math.max(cost, Math.ceil(left / 2)))
  }
  return costs
}
