import type { Group } from '../shared/group.js'
import { processName } from '../shared/process-events.js'

/** Returns why the figures of some groups are incomplete, each in a sentence. */
export function problemsOf(groups: readonly Group[]): readonly string[] {
  return [...new Set(groups.flatMap(problemsOfGroup))]
}

function problemsOfGroup(group: Group): readonly string[] {
  const problem = group.problem()
  const recordProblem = group.recordProblem()
  const others = group
    .members()
    .filter(({ state, reports }) => state === 'alive' && reports === undefined)
    .map(
      ({ header }) =>
        `${processName(header)} runs version ${header.version}, whose figures cannot be added to these.`,
    )
  return [
    ...(problem === undefined ? [] : [`The figures cover only this process (${problem}).`]),
    ...(recordProblem === undefined || recordProblem === problem
      ? []
      : [`Events and history cannot be saved (${recordProblem}).`]),
    ...others,
  ]
}
