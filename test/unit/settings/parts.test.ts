import fc from 'fast-check'
import type { PartValue, SettingsDocument } from '../../../src/limiter/settings-document.js'
import { differences, documentOf, partsOf, setPart } from '../../../src/settings/parts.js'
import { documentSteps } from '../../../src/settings/read-document.js'
import { atOnce } from '../../../src/util/slices.js'

const NOW_MS = 1_000_000_000_000

const limit = fc.record({ limit: fc.integer({ min: 1, max: 3 }) })
const limits = fc.dictionary(fc.constantFrom('api', 'login', 'a.b', 'mode'), limit, { maxKeys: 3 })
const target = fc.constantFrom(
  { identity: 'a' },
  { identity: ['a', 'b'] },
  { identity: '["a","b"]' },
  { identityPrefix: 'a' },
  { network: '10.0.0.0/8' },
  { network: '2001:db8::/32' },
  { storedIdentity: 'x'.repeat(22) },
)
const override = fc
  .tuple(
    target,
    fc.constantFrom({ exempt: true }, { block: true }),
    fc.constantFrom({}, { until: NOW_MS + 1 }),
  )
  .map((pieces) => Object.assign({}, ...pieces))
const overrides = fc.uniqueArray(override, { selector: (each) => JSON.stringify(targetOf(each)) })
const documents = fc
  .record(
    { mode: fc.constantFrom('enforce', 'report'), limits, candidate: fc.record({ limits }), overrides },
    { requiredKeys: [] },
  )
  .map((value) => atOnce(documentSteps(value, NOW_MS)))

function targetOf({ exempt: _exempt, block: _block, until: _until, ...others }: Record<string, unknown>) {
  return others
}

const parts = (document: SettingsDocument) => partsOf(document, NOW_MS)
const changed = (before: SettingsDocument, after: SettingsDocument) =>
  atOnce(differences(parts(before), parts(after)))

test('a document is the sum of its parts', () => {
  fc.assert(
    fc.property(documents, (document) => {
      expect(atOnce(documentSteps(documentOf(parts(document)), NOW_MS))).toEqual(document)
    }),
  )
})

test('what a change changed leads from the document before to the one after, and back', () => {
  fc.assert(
    fc.property(documents, documents, (before, after) => {
      const difference = changed(before, after)
      const forth = parts(before)
      for (const part of difference) setPart(forth, part.path, part.after, NOW_MS)
      const back = parts(after)
      for (const part of difference) setPart(back, part.path, part.before, NOW_MS)
      const sorted = (of: ReadonlyMap<string, PartValue>) => Object.fromEntries(of)
      expect([sorted(forth), sorted(back)]).toEqual([sorted(parts(after)), sorted(parts(before))])
    }),
  )
})

test('a document differs from itself in nothing, also when an override has ended', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const later = (of: SettingsDocument) => partsOf(of, NOW_MS + 1)
      const dropped = atOnce(documentSteps(structuredClone(document), NOW_MS + 1))
      expect(changed(document, structuredClone(document))).toEqual([])
      expect(atOnce(differences(later(document), later(dropped)))).toEqual([])
    }),
  )
})
