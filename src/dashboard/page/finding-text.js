import { spelled, withTimes } from './format.js'

/** Returns what a headline leaves out of a finding: where the denials are, and where they come from. */
export function whereText({ sentence, routes, networks, identities }) {
  const places = [...routes.slice(0, 2), ...networks.slice(0, 3)]
  const whom = places.length > 0 ? places : identities.slice(0, 3)
  return whom.length === 0 ? withTimes(sentence) : spelled(whom.join(' · '))
}

/** Returns what is wrong with a limiter. A headline says since when its store is unavailable, so this says the effect. */
export function findingText({ name, finding }, outages) {
  const effects = finding.kind === 'store-outage' ? outages.flatMap((outage) => outage.effects) : []
  const own = effects.find(({ limiter }) => limiter === name)
  return withTimes(own === undefined ? finding.sentence : own.text)
}
