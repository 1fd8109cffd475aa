import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"Architecture","description":"","frontmatter":{},"headers":[],"relativePath":"internals/architecture.md","filePath":"internals/architecture.md"}');
const _sfc_main = { name: "internals/architecture.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="architecture" tabindex="-1">Architecture <a class="header-anchor" href="#architecture" aria-label="Permalink to &quot;Architecture&quot;">​</a></h1><p>A token manager keeps one valid access token for each account, a core implements the SSO service&#39;s login, and thin adapters stand around both. They are tested against an emulator of the service.</p><div class="language-mermaid vp-adaptive-theme"><button title="Copy Code" class="copy"></button><span class="lang">mermaid</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code" tabindex="0"><code><span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">flowchart TD</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  subgraph apps [apps: wiring only]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    portal[owner-portal]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    gateway[shared-proxy]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    home[home-broker]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    poller[headless-poller]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  end</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  subgraph adapters [adapters: thin, one host each]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    passport</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    express</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    broker</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    cli</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  end</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  subgraph stores [token stores]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    memory[token-store-memory]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    file[token-store-file]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    redis[token-store-redis]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    sql[token-store-sql]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    conformance[token-store-conformance]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  end</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  subgraph core [core: the flow]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    direction LR</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">    login --&gt; steps --&gt; service --&gt; http</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  end</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  manager[&quot;token-manager&lt;br/&gt;the refresh protocol&quot;]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  emulator[&quot;emulator&lt;br/&gt;the service side&quot;]</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  recorder[&quot;recorder&lt;br/&gt;a login written down&quot;]</span></span>
<span class="line"></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  apps --&gt; adapters</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  apps --&gt; stores</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  adapters --&gt; stores</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  broker -- proxy and answers --&gt; express</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  adapters --&gt; core</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  stores --&gt; manager</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  core --&gt; manager</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  apps -- demos --&gt; emulator</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  cli -- when asked for it --&gt; emulator</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  core -. tests .-&gt; emulator</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  emulator -- what a log shows --&gt; recorder</span></span></code></pre></div><p>Arrows are imports. They only point down. A lint step (<code>tools/lint/import-arrows.mjs</code>) rejects any other direction, between packages and between the folders of the larger ones, and circles of files.</p><p>Each package does one job:</p><ul><li><code>token-manager</code> keeps one valid token per account. It knows no service, only the interface <code>TokenIssuer</code>.</li><li><code>core</code> implements the interface document: it signs in, and refreshes at the service.</li><li><code>token-store-*</code> keep records that they don&#39;t look into, with two atomic operations, <code>read</code> and <code>swap</code>; <code>token-store-conformance</code> tests them.</li><li><code>passport</code> turns a request into one of Passport&#39;s outcomes.</li><li><code>express</code> puts the owner&#39;s bearer token on calls of the owner API.</li><li><code>broker</code> hands out access tokens to programs, each with its own key.</li><li><code>cli</code> does all this from a terminal, with exit codes.</li><li><code>emulator</code> answers as the service does; <code>recorder</code> records a login without a secret, and masks the emulator&#39;s log.</li></ul><p><code>internal/sign-in-pages</code> is private: the portal uses it, and the build of the broker copies it into its own <code>dist/</code>.</p><p><code>tests</code> holds what belongs to several packages. <code>tests/model</code> is the refresh protocol in Promela. <code>tests/reliability</code> kills, stops and cuts off real processes, files and servers. In <code>tests/interop</code>, other clients sign in at the emulator. <code>tests/matrix</code> runs the packed packages with other versions of Node, frameworks and bundlers. <code>tests/packed</code> runs the tarballs, and the programs in the documents. <code>tests/repository</code> checks the documents, the workflows and the next release. <code>tools/launcher</code> builds and tests the repository where only Node and npm are installed.</p><h2 id="where-to-start-reading" tabindex="-1">Where to start reading <a class="header-anchor" href="#where-to-start-reading" aria-label="Permalink to &quot;Where to start reading&quot;">​</a></h2><p>For a sign-in, start at <code>login/login.ts</code> of core. <code>steps/</code> has a file for each request, <code>service/</code> what all of them are set up with, and <code>firewall/</code> knows challenge pages. Only <code>http/</code> knows axios, and only <code>pages/</code> knows HTML. One function makes every request, <code>http/round-trip.ts</code>: a refresh calls it as it is, a login hands it to axios as its adapter. So the import and a refresh load neither axios nor the HTML parser.</p><p>For a refresh, read <a href="./refresh-protocol">the refresh protocol</a>. The folders of the token manager, from the bottom up: <code>support</code> → <code>issuer</code> → <code>store</code> → <code>budget</code>, <code>firewall</code> → <code>refresh-protocol</code> → <code>driver</code> → <code>manager</code> → <code>keeper</code>. What <code>createSso</code> returns is a <code>TokenIssuer</code>, and so may be <a href="./../packages/token-manager">any other issuer</a>. Core exports the token manager&#39;s names again, so that an application imports core alone.</p><h2 id="two-readings-of-one-document" tabindex="-1">Two readings of one document <a class="header-anchor" href="#two-readings-of-one-document" aria-label="Permalink to &quot;Two readings of one document&quot;">​</a></h2><p>Core and the emulator share no code: if one of them misreads the interface document, core&#39;s tests fail. <a href="./sso-interface">The interface document, row by row</a> leads to both; <a href="./decisions">decisions</a> lists what it leaves open.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("internals/architecture.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const architecture = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  architecture as default
};
