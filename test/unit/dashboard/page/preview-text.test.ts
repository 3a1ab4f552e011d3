import { pageModule } from '../../../support/page-module.js'

const { previewText } = pageModule<{ previewText(preview: object): string }>('preview-text.js')
const at = (hours: number, minutes: number) => new Date().setHours(hours, minutes, 0, 0)
const preview = {
  limitName: 'api',
  clients: 3400,
  fromMs: at(9, 5),
  toMs: at(21, 10),
  denied: 1,
  wouldDeny: 13,
  newlyDenied: [{ identity: 'b\u202e', peak: 1200 }],
  newlyDeniedCount: 12,
  noLongerDeniedCount: 0,
}
const head = 'api: 13 of 3,400 clients would have been denied from 09:05 to 21:10; 1 was.'

test.each([
  [{}, `${head} Newly denied: b\\u{202e} (asked for 1,200) and 11 more.`],
  [{ newlyDeniedCount: 1 }, `${head} Newly denied: b\\u{202e} (asked for 1,200).`],
  [{ newlyDeniedCount: 0, newlyDenied: [], noLongerDeniedCount: 1 }, `${head} No longer denied: 1 client.`],
  [
    {
      ...{ newlyDeniedCount: 0, newlyDenied: [], noLongerDeniedCount: 7 },
      noLongerDenied: [{ identity: 'ada', peak: 9 }],
    },
    `${head} No longer denied: ada (asked for 9) and 6 more.`,
  ],
  [
    { isBound: true, noLongerDeniedCount: 2, notes: ['Two clients cannot be matched.', 'Others can.'] },
    `${head.replace('13', 'at most 13')} Newly denied: b\\u{202e} (asked for 1,200) and at most 11 more. No longer denied: at least 2 clients. Two clients cannot be matched. Others can.`,
  ],
  [{ problem: 'Nothing has been counted yet.' }, 'api: Nothing has been counted yet.'],
])('%j is said in sentences', (own, expected) => {
  expect(previewText({ ...preview, ...own })).toBe(expected)
})
