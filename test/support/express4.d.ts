// Express 4 is installed under another name, and what these tests use of it is typed as in Express 5.
declare module 'express4' {
  import express from 'express'
  export default express
}
