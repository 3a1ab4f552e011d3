import { readFileSync } from 'node:fs'

const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The source of each entry of the package. */
const entryPoints = Object.keys(exports)
  .filter((path) => path !== './package.json')
  .map((path) => `../src/${path === '.' ? 'index' : path.slice(2)}.ts`)

export default {
  name: 'API reference',
  plugin: [
    'typedoc-plugin-missing-exports',
    'typedoc-plugin-markdown',
    'typedoc-vitepress-theme',
    './typedoc-plugin.mjs',
  ],
  // Types that exported ones name, such as those of single options, are on the page of their entry.
  placeInternalsInOwningModule: true,
  tsconfig: 'tsconfig.api.json',
  entryPoints,
  skipErrorChecking: true, // `npm run check` has checked the sources
  out: 'api',
  docsRoot: '.',
  readme: 'none',
  disableGit: true,
  basePath: '../src',
  sourceLinkTemplate: 'https://github.com/headgate/headgate/blob/main/src/{path}#L{line}',
  // What types of Express and Node.js add to ours.
  excludeExternals: true,
  sort: ['source-order'],
  sortEntryPoints: false,
  indexFormat: 'table',
  parametersFormat: 'table',
  // The example and the options come before the types.
  blockTagsPreserveOrder: ['@example', '@options'],
  groupOrder: ['Functions', 'Interfaces', 'Type Aliases', 'Classes', '*'],
  navigation: { includeGroups: true, includeFolders: false },
  // Members whose signature says it all, such as `allowed`, have no comment. The plugin checks functions.
  requiredToBeDocumented: ['Class', 'Interface', 'TypeAlias', 'Variable'],
  validation: { invalidLink: true, notDocumented: true, notExported: true },
  excludeInternal: true,
  treatWarningsAsErrors: true,
}
