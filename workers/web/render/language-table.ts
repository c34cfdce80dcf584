/**
 * The languages that files are told apart by, as GitHub's Linguist names and colours them, so that people find what
 * they know. Only what public repositories hold in some number: what is not here is shown as plain text.
 */

export interface Language {
  /** What CSS classes and a fence of Markdown call it: small letters, digits and hyphens. */
  readonly id: string
  readonly name: string
  /** Of the language bar, `#rrggbb`. */
  readonly color: string
  /** Whether a repository is said to be written in it: data and prose are not counted. */
  readonly isCounted: boolean
  /** Its grammar in highlight.js; null if there is none. */
  readonly grammar: string | null
  /** Of file names, without the dot, in small letters. */
  readonly extensions: readonly string[]
  /** Whole file names, in small letters. */
  readonly names: readonly string[]
  /** Programs that a `#!` line names, and further words for it in fences. */
  readonly aliases: readonly string[]
}

interface Detail {
  readonly id?: string
  readonly grammar?: string | null
  readonly names?: string
  readonly aliases?: string
}

function code(name: string, color: string, extensions: string, detail: Detail = {}): Language {
  const id = detail.id ?? name.toLowerCase()
  const { grammar = id, names = '', aliases = '' } = detail
  const words = (text: string) => text.split(' ').filter((word) => word !== '')
  return {
    id,
    name,
    color,
    isCounted: true,
    grammar,
    extensions: words(extensions),
    names: words(names),
    aliases: words(aliases),
  }
}

function data(name: string, color: string, extensions: string, detail: Detail = {}): Language {
  return { ...code(name, color, extensions, detail), isCounted: false }
}

export const LANGUAGES: readonly Language[] = [
  code('Ada', '#02f88c', 'adb ads ada'),
  code('Assembly', '#6e4c13', 'asm nasm s', { id: 'x86asm', aliases: 'asm assembly nasm' }),
  code('Awk', '#c30e9b', 'awk gawk', { aliases: 'gawk mawk nawk' }),
  code('Batchfile', '#c1f12e', 'bat cmd', { id: 'dos', aliases: 'batch' }),
  code('C', '#555555', 'c h', { aliases: 'h' }),
  code('C#', '#178600', 'cs csx', { id: 'csharp', aliases: 'c#' }),
  code('C++', '#f34b7d', 'cpp cc cxx c++ hpp hh hxx h++ ipp ino tpp cppm', { id: 'cpp', aliases: 'c++ arduino' }),
  code('Clojure', '#db5855', 'clj cljs cljc edn'),
  code('CMake', '#da3434', 'cmake', { names: 'cmakelists.txt' }),
  code('CoffeeScript', '#244776', 'coffee', { names: 'cakefile' }),
  code('Crystal', '#000100', 'cr'),
  code('CSS', '#663399', 'css pcss postcss'),
  code('D', '#ba595e', 'd di'),
  code('Dart', '#00b4ab', 'dart'),
  code('Dockerfile', '#384d54', 'dockerfile containerfile', { names: 'dockerfile containerfile', aliases: 'docker' }),
  code('Elixir', '#6e4a7e', 'ex exs', { names: 'mix.lock' }),
  code('Elm', '#60b5cc', 'elm'),
  code('Erlang', '#b83998', 'erl hrl', { names: 'rebar.config', aliases: 'escript' }),
  code('F#', '#b845fc', 'fs fsi fsx', { id: 'fsharp', aliases: 'f#' }),
  code('Fortran', '#4d41b1', 'f f77 f90 f95 f03 f08 for'),
  code('GLSL', '#5686a5', 'glsl vert frag geom comp'),
  code('Go', '#00add8', 'go', { aliases: 'golang' }),
  code('GraphQL', '#e10098', 'graphql gql graphqls'),
  code('Groovy', '#4298b8', 'groovy gradle gvy', { names: 'jenkinsfile' }),
  code('Handlebars', '#f7931e', 'handlebars hbs', { aliases: 'mustache' }),
  code('Haskell', '#5e5086', 'hs', { aliases: 'runhaskell' }),
  code('Haxe', '#df7900', 'hx'),
  code('HCL', '#844fba', 'hcl tf tfvars', { grammar: null, aliases: 'terraform' }),
  code('HTML', '#e34c26', 'html htm xhtml', { grammar: 'xml' }),
  code('Java', '#b07219', 'java jav'),
  code('JavaScript', '#f1e05a', 'js cjs mjs jsx es6', {
    names: 'jakefile',
    aliases: 'node nodejs deno bun ecmascript',
  }),
  code('Jinja', '#a52a22', 'jinja jinja2 j2 njk', { grammar: 'django', aliases: 'nunjucks' }),
  code('Julia', '#a270ba', 'jl'),
  code('Kotlin', '#a97bff', 'kt kts'),
  code('Less', '#1d365d', 'less'),
  code('Lisp', '#3fb68b', 'lisp lsp cl el asd', { aliases: 'elisp common-lisp emacs-lisp sbcl' }),
  code('LLVM', '#185619', 'll'),
  code('Lua', '#000080', 'lua rockspec', { aliases: 'luajit' }),
  code('Makefile', '#427819', 'mk mak make', { names: 'makefile gnumakefile bsdmakefile', aliases: 'gmake' }),
  code('MATLAB', '#e16737', 'matlab', { aliases: 'octave' }),
  code('Nim', '#ffc200', 'nim nims nimble'),
  code('Nix', '#7e7eff', 'nix'),
  code('Objective-C', '#438eff', 'm mm', { id: 'objectivec', aliases: 'objective-c objc obj-c' }),
  code('OCaml', '#ef7a08', 'ml mli mll mly'),
  code('Pascal', '#e3f171', 'pas dpr lpr pp', { id: 'delphi', aliases: 'pascal' }),
  code('Perl', '#0298c3', 'pl pm t', { names: 'cpanfile' }),
  code('PHP', '#4f5d95', 'php phtml php3 php4 php5 phps inc'),
  code('PowerShell', '#012456', 'ps1 psm1 psd1', { aliases: 'pwsh' }),
  code('Prolog', '#74283c', 'prolog', { aliases: 'swipl' }),
  code('Python', '#3572a5', 'py pyi pyw pyx', { names: 'sconstruct sconscript wscript', aliases: 'py3 pypy uv' }),
  code('R', '#198ce7', 'r', { names: '.rprofile', aliases: 'rscript' }),
  code('Ruby', '#701516', 'rb rake gemspec ru podspec', {
    names: 'gemfile rakefile podfile vagrantfile brewfile fastfile guardfile',
    aliases: 'jruby',
  }),
  code('Rust', '#dea584', 'rs'),
  code('Scala', '#c22d40', 'scala sbt sc'),
  code('Scheme', '#1e4aec', 'scm ss sld rkt', { aliases: 'guile racket' }),
  code('SCSS', '#c6538c', 'scss sass'),
  code('Shell', '#89e051', 'sh bash zsh ksh command bats ebuild', {
    id: 'bash',
    names: '.bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .envrc apkbuild pkgbuild gradlew configure',
    aliases: 'shell dash ash fish',
  }),
  code('Smalltalk', '#596706', 'st'),
  code('Solidity', '#aa6746', 'sol', { grammar: null }),
  code('SQL', '#e38c00', 'sql ddl dml psql', { aliases: 'sqlite postgresql mysql pgsql' }),
  code('Stylus', '#ff6347', 'styl'),
  code('Svelte', '#ff3e00', 'svelte', { grammar: 'xml' }),
  code('Swift', '#f05138', 'swift'),
  code('Tcl', '#e4cc98', 'tcl tk', { aliases: 'tclsh wish expect' }),
  code('TeX', '#3d6117', 'tex sty cls ltx', { id: 'latex', aliases: 'tex' }),
  code('Twig', '#c1d026', 'twig'),
  code('TypeScript', '#3178c6', 'ts tsx mts cts', { aliases: 'ts-node tsx' }),
  code('Vala', '#a56de2', 'vala vapi'),
  code('Verilog', '#b2b7f8', 'v vh sv svh', { aliases: 'systemverilog' }),
  code('VHDL', '#adb2cb', 'vhd vhdl'),
  code('Vim Script', '#199f4b', 'vim', { id: 'vim', names: '.vimrc _vimrc vimrc', aliases: 'viml vimscript' }),
  code('Visual Basic', '#945db7', 'vb bas vbs', { id: 'vbnet', aliases: 'vb' }),
  code('Vue', '#41b883', 'vue', { grammar: 'xml' }),
  code('WebAssembly', '#04133b', 'wat wast', { id: 'wasm' }),
  code('Zig', '#ec915c', 'zig zon', { grammar: null }),

  data('Apache configuration', '#d12127', '', { id: 'apache', names: '.htaccess httpd.conf apache2.conf' }),
  data('AsciiDoc', '#73a0c5', 'adoc asciidoc asc'),
  data('Diff', '#88dd88', 'diff patch'),
  data('Gherkin', '#5b2063', 'feature'),
  data('INI', '#d1dbe0', 'ini cfg conf service desktop', {
    names: '.gitconfig .editorconfig .npmrc .gitmodules .flake8 .pylintrc',
  }),
  data('JSON', '#292929', 'json jsonc json5 webmanifest geojson har ipynb jsonl ndjson', {
    names: '.babelrc .eslintrc .prettierrc .jshintrc composer.lock flake.lock deno.lock pipfile.lock',
  }),
  data('Java Properties', '#2a6277', 'properties', { id: 'properties' }),
  data('Markdown', '#083fa1', 'md markdown mdown mkd mkdn mdwn mdx'),
  data('Nginx configuration', '#009639', 'nginxconf', { id: 'nginx', names: 'nginx.conf' }),
  data('Protocol Buffers', '#4a4a9c', 'proto', { id: 'protobuf' }),
  data('Shell session', '#89e051', 'console', { id: 'shell', aliases: 'shell-session sh-session terminal' }),
  data('TOML', '#9c4221', 'toml', { grammar: 'ini', names: 'cargo.lock poetry.lock pipfile uv.lock pdm.lock' }),
  data('Thrift', '#d12127', 'thrift'),
  data(
    'XML',
    '#0060ac',
    'xml xsd xsl xslt svg plist rss atom wsdl csproj fsproj vbproj vcxproj props targets xaml ui',
    {
      names: '.classpath .project',
    },
  ),
  data('YAML', '#cb171e', 'yml yaml cff', { names: '.clang-format .clang-tidy glide.lock' }),
]
