/**
 * Jest's own resolver, except that an import of `./name.js` finds `./name.ts`. Jest keeps what this returns;
 * what `moduleNameMapper` finds is looked up again for each test file.
 */
module.exports = function resolveSource(path, options) {
  return options.defaultResolver(path.replace(/^(\.{1,2}\/.*)\.js$/, '$1'), options)
}
