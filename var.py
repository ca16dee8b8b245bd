import subprocess,json,pathlib,shutil
L="/work/wt/decode/build/release/bin/l4"
src=pathlib.Path("/work/wt/decode/samples/crash-rank4")
root=pathlib.Path("/tmp/dw/var"); shutil.rmtree(root,ignore_errors=True)
def logs(d): return [p for p in d.rglob("*") if p.is_file() and p.suffix in (".log",".out",".err",".txt")]
def make(name,fn):
    d=root/name/src.name; shutil.copytree(src,d)
    for p in logs(d): fn(p)
    return d
def utf16(p): p.write_bytes("\ufeff".encode("utf-16-le")+p.read_text(errors="replace").encode("utf-16-le"))
def zst(p): subprocess.run(["zstd","-q","--rm",str(p),"-o",str(p)+".zst"],check=True) if p.stat().st_size else None
def rot(p):
    ls=p.read_bytes().splitlines(True)
    if len(ls)<6: return
    a,b=len(ls)//3,2*len(ls)//3
    subprocess.run(["zstd","-q","-o",str(p)+".2.zst"],input=b"".join(ls[:a]),check=True)
    pathlib.Path(str(p)+".1").write_bytes(b"".join(ls[a:b])); p.write_bytes(b"".join(ls[b:]))
def crlf(p): p.write_bytes(p.read_bytes().replace(b"\n",b"\r\n"))
def cri(p):
    out=[]
    for l in p.read_bytes().decode(errors="replace").split("\n")[:-1]:
        h=len(l)//2
        out.append(f"2026-11-20T15:54:21.1Z stdout P {l[:h]}\n2026-11-20T15:54:21.1Z stdout F {l[h:]}\n")
    p.write_text("".join(out))
def run(d):
    o=subprocess.run([L,"diagnose",str(d),"--format","json","--lines","/tmp/dw/v.tsv"],capture_output=True,text=True)
    r=json.loads(o.stdout); t=[l.split("\t") for l in open("/tmp/dw/v.tsv")]
    return r,t
base,bt=run(src)
print("base",base["verdict"]["state"],base["verdict"]["since"],base["nodes"][0]["node"],len(bt),base["job"]["lines"],base["job"]["sources"],base["job"]["completeness"])
for name,fn in dict(utf16=utf16,zst=zst,rot=rot,crlf=crlf,cri=cri).items():
    r,t=run(make(name,fn))
    print(name,r["verdict"]["state"],r["verdict"]["since"],r["nodes"][0]["node"],len(t),r["job"]["lines"],r["job"]["sources"],r["job"]["completeness"],[ (w["kind"],w["file"]) for w in r["warnings"]][:3])
    if name=="rot":
        # lines point at physical lines with the same text
        want=sorted(x for x in ((src/f).read_bytes().splitlines()[int(n)-1] for f,n,*_ in bt))
        got=[]
        for f,n,*_ in t:
            p=root/"rot"/src.name/f
            data=subprocess.run(["zstd","-dcq",str(p)],capture_output=True).stdout if f.endswith(".zst") else p.read_bytes()
            got.append(data.splitlines()[int(n)-1])
        print("  same lines:",sorted(got)==want, sorted({f for f,*_ in t})[:6])
